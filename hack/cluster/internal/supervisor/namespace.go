package supervisor

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

// CloneFlags are the namespaces that the supervisor is started in. All that the
// cluster does to mounts, network interfaces, routes, packet filters and
// processes stays in them and ends with them.
const CloneFlags = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC

// The addresses of the cluster's own network. They meet nothing of the host's:
// its network namespace has no way out.
const (
	NodeIP      = "10.244.0.1" // the bridge's address is the node's, the API server's and the DNS server's
	podCIDR     = "10.244.0.0/24"
	ServiceCIDR = "10.96.0.0/16"
	ServiceIP   = "10.96.0.1" // the kubernetes Service: the first of ServiceCIDR
	bridge      = "cni0"
)

// bridgeMAC is fixed: a bridge without one takes over that of a member, and
// changes it as pods come and go, which neighbours notice late.
var bridgeMAC = net.HardwareAddr{0x0a, 0x58, 10, 244, 0, 1}

// enterNamespaces prepares the namespaces that this process was started in.
func enterNamespaces(dir state.Dir, hostname string) error {
	if err := unix.Sethostname([]byte(hostname)); err != nil {
		return fmt.Errorf("sethostname: %w", err)
	}
	if err := prepareMounts(dir); err != nil {
		return err
	}
	return prepareNetwork()
}

// hidden are the host directories which Kubernetes, containerd or the CNI
// plugins write to at paths that cannot all be configured. A private tmpfs
// covers each; all that has to be kept lies in the state directory.
var hidden = []string{"/run", "/var/lib", "/var/log"}

func prepareMounts(dir state.Dir) error {
	// What the host mounts and unmounts later still shows in here, but nothing
	// goes the other way. Shared within, since pods may ask for propagation.
	for _, flags := range []uintptr{unix.MS_REC | unix.MS_SLAVE, unix.MS_REC | unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", flags, ""); err != nil {
			return fmt.Errorf("mount propagation of /: %w", err)
		}
	}
	// Opened before anything is covered: the state directory may be below /var/lib.
	stateFD, err := unix.Open(string(dir), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening %s: %w", dir, err)
	}
	defer unix.Close(stateFD)
	cgroupFD, err := unix.Open("/sys/fs/cgroup", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening /sys/fs/cgroup: %w", err)
	}
	defer unix.Close(cgroupFD)

	// Of this PID namespace, and of this network namespace.
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	if err := unix.Mount("sysfs", "/sys", "sysfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /sys: %w", err)
	}
	if err := bind(cgroupFD, "/sys/fs/cgroup"); err != nil {
		return err
	}
	for _, path := range hidden {
		if err := unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
			return fmt.Errorf("mounting a tmpfs on %s: %w", path, err)
		}
	}
	// Debian has /var/run as a link to /run; where it is not, it becomes the same.
	if info, err := os.Lstat("/var/run"); err == nil && info.IsDir() {
		if err := unix.Mount("/run", "/var/run", "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("binding /run on /var/run: %w", err)
		}
	}
	if err := os.Mkdir(string(state.Inside), 0o755); err != nil {
		return err
	}
	return bind(stateFD, string(state.Inside))
}

func bind(fd int, target string) error {
	if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", fd), target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("binding on %s: %w", target, err)
	}
	return nil
}

// netSysctls are kept per network namespace: they are not the host's.
var netSysctls = map[string]string{
	"/proc/sys/net/ipv4/ip_forward":                "1",
	"/proc/sys/net/bridge/bridge-nf-call-iptables": "1",
}

func prepareNetwork() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("interface lo: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("interface lo: %w", err)
	}
	cni := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: bridge, HardwareAddr: bridgeMAC}}
	if err := netlink.LinkAdd(cni); err != nil {
		return fmt.Errorf("adding the bridge %s: %w", bridge, err)
	}
	address, err := netlink.ParseAddr(NodeIP + "/24")
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(cni, address); err != nil {
		return fmt.Errorf("address of the bridge: %w", err)
	}
	if err := netlink.LinkSetUp(cni); err != nil {
		return fmt.Errorf("interface %s: %w", bridge, err)
	}
	// kube-proxy rewrites a packet to a Service only after a route for it was found.
	_, services, err := net.ParseCIDR(ServiceCIDR)
	if err != nil {
		return err
	}
	if err := netlink.RouteAdd(&netlink.Route{LinkIndex: cni.Attrs().Index, Dst: services}); err != nil {
		return fmt.Errorf("route to the Services: %w", err)
	}
	for path, value := range netSysctls {
		err := os.WriteFile(path, []byte(value), 0o644)
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s is missing: load the kernel module br_netfilter on the host", path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
