package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/record"
)

// MaxMessage is the maximum length of the program output that a record quotes, in bytes.
const MaxMessage = 900

// Session holds the configuration, folders and functions that a driver uses during one attempt.
type Session struct {
	Config  record.Config
	Part    Part
	Dirs    Dirs
	Program string       // a name to search for or a path that replaces the driver's default program; empty: the default
	HTTP    *http.Client // for requests that do not go to the cluster

	// The trial sets these fields before Prepare.
	Access  access.Access      // credentials of an endpoint, from its Secrets
	Cluster *opensearch.Client // nil for a driver of kind NoCluster

	Say func(format string, args ...any)                             // prints a line of progress
	Run func(context.Context, process.Program) (exit int, err error) // runs a program and returns its exit code; see Runner.Run
}

// RunID returns the name of one run of the driver's program. The name consists of the facts that identify the attempt, and of
// suffix.
func (s *Session) RunID(suffix string) string {
	a := s.Config.Attempt
	return strings.ToLower(fmt.Sprintf("knee-%s-%s-c%d-r%d-a%d%s", a.Cell, a.Phase, a.Clients, a.Repetition, a.N, suffix))
}

// Dirs holds the folders of an attempt.
type Dirs struct {
	Work  string // scratch folder, writable
	Cache string // folder that is kept between trials; empty: there is no such folder
}

// Home returns the folder that the driver's program gets as HOME.
func (d Dirs) Home() string { return filepath.Join(d.Work, "home") }

// Temp returns the folder that the driver's program gets as TMPDIR.
func (d Dirs) Temp() string { return filepath.Join(d.Work, "tmp") }

// Kept returns a folder in the cache, or in the scratch folder if there is no cache.
func (d Dirs) Kept(name string) string {
	if d.Cache != "" {
		return filepath.Join(d.Cache, name)
	}
	return filepath.Join(d.Work, name)
}

// Output returns the file in the scratch folder that stores what a run printed.
func (d Dirs) Output(runID string) string { return filepath.Join(d.Work, runID+".out") }

// IsFolder reports whether a path is a folder.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return path != "" && err == nil && info.IsDir()
}

// Artifact is a raw file that the trial saves in the attempt's folder.
type Artifact struct {
	Name  string
	About string                                 // line about this file in the folder's README.txt
	Write func(context.Context, io.Writer) error // writes the file; returns fs.ErrNotExist if there is nothing to save
}

// CopyOf returns a function that copies a file and masks the secrets in it.
func (s *Session) CopyOf(path string) func(context.Context, io.Writer) error {
	return func(_ context.Context, w io.Writer) error {
		source, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = source.Close() }()
		masked := access.Secrets(s.Access.Secret()).Writer(w)
		_, err = io.Copy(masked, source)
		return errors.Join(err, masked.Flush())
	}
}
