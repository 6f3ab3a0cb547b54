package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// programs are the packages of the programs that Knee ships.
var programs = []string{"./cmd/manager", "./cmd/knee-agent", "./cmd/kubectl-knee"}

// standardLibrary is used as the module path of the Go standard library.
const standardLibrary = "stdlib"

// module is a Go module that has packages in a program.
type module struct {
	path, version, dir string
	packages           []string // folders of the packages
}

// modulesOf lists the modules of the packages, sorted by path. The list includes the standard library, but not Knee
// itself.
func modulesOf(packages []string) ([]module, error) {
	args := append([]string{"list", "-deps", "-json=Dir,Standard,Module"}, packages...)
	out, err := command("go", args...)
	if err != nil {
		return nil, err
	}
	var root string
	byPath := map[string]*module{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Dir      string
			Standard bool
			Module   *struct {
				Path, Version, Dir string
				Main               bool
				Replace            *struct{ Path string }
			}
		}
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			modules := make([]module, 0, len(byPath)+1)
			for _, m := range byPath {
				modules = append(modules, *m)
			}
			slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.path, b.path) })
			goroot, err := command("go", "env", "GOROOT")
			root = strings.TrimSpace(string(goroot))
			return append(modules, module{path: standardLibrary, version: goVersion(), dir: root, packages: []string{root}}), err
		case err != nil:
			return nil, err
		case p.Standard || p.Module == nil || p.Module.Main:
			continue
		case p.Module.Replace != nil:
			return nil, fmt.Errorf("module %s is replaced by %s: its licence and its vulnerabilities cannot be checked", p.Module.Path, p.Module.Replace.Path)
		}
		m := byPath[p.Module.Path]
		if m == nil {
			m = &module{path: p.Module.Path, version: p.Module.Version, dir: p.Module.Dir}
			byPath[m.path] = m
		}
		m.packages = append(m.packages, p.Dir)
	}
}

// folders returns the folders whose licence files apply to the packages: the folder of each package and the folders
// above it in the module.
func (m module) folders() []string {
	folders := []string{m.dir}
	for _, dir := range m.packages {
		for ; dir != m.dir && strings.HasPrefix(dir, m.dir); dir = filepath.Dir(dir) {
			folders = append(folders, dir)
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

// goVersion returns the version of Go that built this program, which also builds Knee.
func goVersion() string { return strings.TrimPrefix(runtime.Version(), "go") }

// command runs a program and returns its standard output. The error contains its standard error.
func command(name string, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(context.Background(), name, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, exit.Stderr)
	}
	return out, err
}
