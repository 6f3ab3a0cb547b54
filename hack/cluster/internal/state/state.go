// Package state holds the paths of the files in the cluster's state directory. It also reads and writes the two small
// files with the cluster's configuration and its running process.
package state

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Inside is where the supervisor mounts the state directory in its own mount namespace. The daemons use only this path.
// It is short enough for sockets, and stays the same if the directory is moved.
const Inside = Dir("/run/knee")

// Dir is a state directory.
type Dir string

// Path joins elements to the directory.
func (d Dir) Path(elements ...string) string {
	return filepath.Join(append([]string{string(d)}, elements...)...)
}

// Lock returns the path of the file that a command locks while it changes the cluster.
func (d Dir) Lock() string { return d.Path("lock") }

// Kubeconfig returns the path of the administrator's kubeconfig.
func (d Dir) Kubeconfig() string { return d.Path("kubeconfig") }

// Control returns the path of the unix socket on which the supervisor answers the commands.
func (d Dir) Control() string { return d.Path("control.sock") }

// Containerd returns the path of the unix socket of containerd.
func (d Dir) Containerd() string { return d.Path("containerd.sock") }

// PKI returns the path of the directory with the certificates and their keys.
func (d Dir) PKI() string { return d.Path("pki") }

// Volumes returns the path of the directory with the data of the persistent volumes.
func (d Dir) Volumes() string { return d.Path("pv") }

// Policies returns the path of the file that says whether network policies are enforced. The supervisor waits for this
// file.
func (d Dir) Policies() string { return d.Path("network-policies") }

// Audit returns the path of the API server's audit log.
func (d Dir) Audit() string { return d.Path("log", "audit.jsonl") }

// Log returns the file for a daemon's output.
func (d Dir) Log(daemon string) string { return d.Path("log", daemon+".log") }

func (d Dir) config() string     { return d.Path("config.json") }
func (d Dir) supervisor() string { return d.Path("supervisor.json") }

// Config holds the settings that `up` chose when it created the cluster. A later `up` reads Config, so it starts the
// same cluster.
type Config struct {
	// Name is the node's name.
	Name string `json:"name"`
	// APIPort is the port on the host's 127.0.0.1 that is forwarded to the API server.
	APIPort int `json:"apiPort"`
	// CgroupRoot is the path, in each hierarchy, of the cgroup that contains the whole cluster.
	CgroupRoot string `json:"cgroupRoot"`
	// ExtraArgs are additional flags of a daemon, by the daemon's name.
	ExtraArgs map[string][]string `json:"extraArgs,omitempty"`
}

// CgroupRoot returns the cgroup of the cluster with that name in that directory. Clusters in two directories have
// different cgroups.
func CgroupRoot(name string, dir Dir) string {
	return fmt.Sprintf("/knee-%s-%x", name, sha256.Sum256([]byte(dir)))[:len("/knee--")+len(name)+6]
}

// LoadConfig reads the configuration. found is false if the directory does not contain a cluster yet.
func (d Dir) LoadConfig() (config Config, found bool, err error) {
	found, err = readJSON(d.config(), &config)
	return config, found, err
}

// SaveConfig writes the configuration.
func (d Dir) SaveConfig(config Config) error {
	return WriteJSON(d.config(), config)
}

// Supervisor identifies the supervisor's process. A process id is not enough, because another process may get the same
// id later, for example after a boot.
type Supervisor struct {
	PID int `json:"pid"`
	// StartTime is field 22 of /proc/PID/stat, in clock ticks since boot.
	StartTime uint64 `json:"startTime"`
	// BootID is /proc/sys/kernel/random/boot_id.
	BootID string `json:"bootID"`
}

// LoadSupervisor reads the identity of the supervisor's process. The process may have ended.
func (d Dir) LoadSupervisor() (supervisor Supervisor, found bool, err error) {
	found, err = readJSON(d.supervisor(), &supervisor)
	return supervisor, found, err
}

// SaveSupervisor writes the identity of the supervisor's process.
func (d Dir) SaveSupervisor(supervisor Supervisor) error {
	return WriteJSON(d.supervisor(), supervisor)
}

// Clear removes the files that exist only while the cluster runs.
func (d Dir) Clear() error {
	var errs []error
	for _, file := range []string{d.supervisor(), d.Control(), d.Containerd(), d.Containerd() + ".ttrpc", d.Kubeconfig()} {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func readJSON(file string, into any) (found bool, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return false, fmt.Errorf("%s: %w; `knee-cluster down --wipe` starts afresh", file, err)
	}
	return true, nil
}

// WriteJSON writes a value to a file. It replaces the file in one step, so the file is never incomplete.
func WriteJSON(file string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(file, append(data, '\n'), 0o644)
}

// WriteFile is like os.WriteFile, but it replaces the file by a rename. It does not touch a file that already has the
// same content, because kube-proxy exits when its configuration is rewritten.
func WriteFile(file string, data []byte, mode os.FileMode) error {
	if old, err := os.ReadFile(file); err == nil && string(old) == string(data) {
		return nil
	}
	temporary := file + ".new"
	if err := os.WriteFile(temporary, data, mode); err != nil {
		return err
	}
	return os.Rename(temporary, file)
}
