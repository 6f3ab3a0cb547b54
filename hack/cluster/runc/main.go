// Command runc-open-files is a wrapper of runc. The containers that it creates get their limit of open files from a
// socket instead of the kernel; see the package openfiles. The socket "open-files.sock" is in the folder of the
// program.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/knee-bench/knee/hack/cluster/internal/openfiles"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "runc-open-files:", err)
		os.Exit(1)
	}
}

func run() error {
	args := os.Args[1:]
	if slices.Contains(args, "create") {
		if err := rewrite(filepath.Join(bundle(args), "config.json")); err != nil {
			return err
		}
	}
	runc, err := exec.LookPath("runc")
	if err != nil {
		return err
	}
	return syscall.Exec(runc, append([]string{"runc"}, args...), os.Environ())
}

// bundle returns the container's directory. containerd's shim calls `runc create --bundle DIR ID`.
func bundle(args []string) string {
	for i, arg := range args {
		if dir, found := strings.CutPrefix(arg, "--bundle="); found {
			return dir
		}
		if arg == "--bundle" && i+1 < len(args) {
			return args[i+1]
		}
	}
	return "."
}

func rewrite(file string) error {
	config, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	config, err = openfiles.Rewrite(config, filepath.Join(filepath.Dir(self), "open-files.sock"))
	if err != nil {
		return err
	}
	return os.WriteFile(file, config, 0o600)
}
