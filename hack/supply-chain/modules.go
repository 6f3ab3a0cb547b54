package main

import (
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

// programs are what Knee ships.
var programs = []string{"./cmd/manager", "./cmd/knee-agent", "./cmd/kubectl-knee"}

// standardLibrary stands for the module that the Go distribution is.
const standardLibrary = "stdlib"

// module is one that packages of it are linked from.
type module struct {
	path, version, dir string
	packages           []string // folders
}

// modulesOf lists the modules that packages are built from, by path, Knee's own left out.
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
			return nil, fmt.Errorf("module %s is replaced by %s, which neither its licence nor a database of vulnerabilities knows", p.Module.Path, p.Module.Replace.Path)
		}
		m := byPath[p.Module.Path]
		if m == nil {
			m = &module{path: p.Module.Path, version: p.Module.Version, dir: p.Module.Dir}
			byPath[m.path] = m
		}
		m.packages = append(m.packages, p.Dir)
	}
}

// folders are those whose licence files bind the packages: each package's and those above it within the module.
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

// goVersion is that of the Go that builds this program and Knee's alike.
func goVersion() string { return strings.TrimPrefix(runtime.Version(), "go") }

// command runs a program and gives its output; what it says of its failure is in the error.
func command(name string, args ...string) ([]byte, error) {
	out, err := exec.Command(name, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, exit.Stderr)
	}
	return out, err
}
