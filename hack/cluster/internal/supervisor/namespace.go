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

// CloneFlags select the new namespaces in which the supervisor is started. All changes that the cluster makes to
// mounts, network interfaces, routes, packet filters and processes stay in these namespaces and end with them.
const CloneFlags = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC

// NodeIP and the other constants define the cluster's own network. It cannot collide with the host's network, because
// the network namespace has no connection to the outside.
const (
	NodeIP      = "10.244.0.1" // address of the bridge; also of the node, the API server and the DNS server
	podCIDR     = "10.244.0.0/24"
	ServiceCIDR = "10.96.0.0/16"
	ServiceIP   = "10.96.0.1" // the Service "kubernetes": the first address of ServiceCIDR
	bridge      = "cni0"
)

// bridgeMAC is a fixed address for the bridge. Without it, the bridge would use the address of one of its interfaces.
// That address would change when pods start and end, and neighbours would notice the change late.
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

// hidden are the host directories that Kubernetes, containerd or the CNI plugins write to at paths that cannot all be
// configured. Each is covered by a private tmpfs. All data that must be kept is in the state directory.
var hidden = []string{"/run", "/var/lib", "/var/log"}

func prepareMounts(dir state.Dir) error {
	// MS_SLAVE: later mounts of the host appear in this namespace, but mounts of this namespace do not appear on the
	// host. MS_SHARED: pods may request mount propagation within this namespace.
	for _, flags := range []uintptr{unix.MS_REC | unix.MS_SLAVE, unix.MS_REC | unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", flags, ""); err != nil {
			return fmt.Errorf("mount propagation of /: %w", err)
		}
	}
	// Open the state directory before a tmpfs is mounted over /var/lib: the directory may be below /var/lib.
	stateFD, err := unix.Open(string(dir), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening %s: %w", dir, err)
	}
	defer func() { _ = unix.Close(stateFD) }()
	cgroupFD, err := unix.Open("/sys/fs/cgroup", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening /sys/fs/cgroup: %w", err)
	}
	defer func() { _ = unix.Close(cgroupFD) }()

	// Mount a new /proc for this PID namespace and a new /sys for this network namespace.
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
	// On Debian /var/run is a link to /run. If it is a directory, /run is mounted on it, with the same effect.
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

// netSysctls are separate for each network namespace, so setting them does not change the host.
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
	// Add a route to the Services: kube-proxy rewrites the packets to a Service only after the kernel has found a route
	// for them.
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
