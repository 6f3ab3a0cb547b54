package supervisor

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"golang.org/x/sys/unix"

	"github.com/knee-bench/knee/hack/cluster/internal/provisioner"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

//go:embed config
var templates embed.FS

// PauseImage is the image of the pod sandboxes.
const PauseImage = "knee.dev/pause:1"

// configFiles maps each template to its path below etc.
var configFiles = map[string]string{
	"containerd.toml": "containerd.toml",
	"cni.conflist":    "cni/10-knee.conflist",
	"kubelet.yaml":    "kubelet.yaml",
	"kube-proxy.yaml": "kube-proxy.yaml",
	"Corefile":        "Corefile",
	"resolv.conf":     "resolv.conf",
	"objects.yaml":    "objects.yaml",
	"audit.yaml":      "audit.yaml",
}

// values returns the values that the templates use.
func values(config state.Config, snapshotter, runc string) map[string]string {
	return map[string]string{
		"Dir":         string(state.Inside),
		"Node":        config.Name,
		"CgroupRoot":  config.CgroupRoot,
		"NodeIP":      NodeIP,
		"PodCIDR":     podCIDR,
		"Bridge":      bridge,
		"Domain":      domain,
		"PauseImage":  PauseImage,
		"Provisioner": provisioner.Name,
		"Snapshotter": snapshotter,
		"Runc":        runc,
	}
}

func render(name string, values map[string]string) ([]byte, error) {
	// An unknown value must be an error. By default the file would contain "<no value>".
	parsed, err := template.New(name).Option("missingkey=error").ParseFS(templates, "config/"+name)
	if err != nil {
		return nil, err
	}
	var rendered bytes.Buffer
	err = parsed.ExecuteTemplate(&rendered, name, values)
	return rendered.Bytes(), err
}

// writeConfigs writes the daemons' configuration files. runc is the path of the program to use as runc; if it is empty,
// containerd uses its default.
func writeConfigs(config state.Config, snapshotter, runc string) error {
	values := values(config, snapshotter, runc)
	for name, file := range configFiles {
		data, err := render(name, values)
		if err != nil {
			return err
		}
		path := state.Inside.Path("etc", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := state.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// chooseSnapshotter tries an overlay mount in the file system of the images. If this file system is itself an overlay,
// the mount fails, and the snapshotter is "native".
func chooseSnapshotter() (string, error) {
	base := state.Inside.Path("tmp", "overlay")
	for _, dir := range []string{"lower", "upper", "work", "merged"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			return "", err
		}
	}
	merged := filepath.Join(base, "merged")
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", base)
	snapshotter := "overlayfs"
	if err := unix.Mount("overlay", merged, "overlay", 0, options); err != nil {
		snapshotter = "native"
	} else if err := unix.Unmount(merged, 0); err != nil {
		return "", err
	}
	return snapshotter, os.RemoveAll(base)
}
