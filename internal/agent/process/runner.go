package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/record"
)

// stopGrace is how long a program may take to end after an interrupt. The actors of opensearch-benchmark took up to 4.4 s in
// a test.
const stopGrace = 8 * time.Second

// Runner runs the programs of drivers.
type Runner struct {
	Programs Programs
	Dir      string         // working directory of the programs
	Limit    time.Duration  // longest time without a sign of life from the program; 0: no limit
	Secrets  access.Secrets // masked in the output of the programs

	IsMerging func(context.Context) bool // reports whether the cluster merges segments, because a program may wait for merges
	Say       func(format string, args ...any)
}

// Program describes one run of a program.
type Program struct {
	Name     string // name in messages
	Path     string
	Args     []string
	Env      []string // added to the agent's environment
	Output   Output
	Activity Activity // counters of the cluster during the load; nil if the program makes no load

	isHeld func() bool // reports whether the program waits for other loader pods; may be nil
}

// Output receives what a program prints. News counts the lines with new information: each of these lines is a sign of life.
type Output interface {
	io.Writer
	News() int64
}

// Activity reports the activity of the cluster during a load.
type Activity interface {
	// LastProgress returns when the cluster last accepted a document or merged segments; zero: never.
	LastProgress() time.Time
	// Silence returns for how long the cluster has reported no counters. It returns 0 before the first document.
	Silence() time.Duration
}

// Run runs a program until it ends. It stops the program if the context ends or the program hangs. It leaves no process of
// the program running.
func (r Runner) Run(ctx context.Context, p Program) (exit int, err error) {
	r.Say("%s %s", filepath.Base(p.Path), strings.Join(p.Args, " "))
	masked := r.Secrets.Writer(p.Output)
	child, err := r.Programs.Start(p.Path, p.Args, append(Environment(), p.Env...), r.Dir, masked)
	if err != nil {
		return 0, record.Errorf(record.ReasonDriverFailed, "cannot start the program %s: %v", p.Path, err)
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	var hung error
	select {
	case <-child.Done():
	case hung = <-r.watchForHang(watching, p):
		r.Say("%v", hung)
		child.Stop(stopGrace)
	case <-ctx.Done():
		child.Stop(stopGrace)
	}
	cancel()
	left, endErr := r.Programs.EndAll(ctx)
	exit, err = child.End(stopGrace)
	_ = masked.Flush() // never fails
	if stopped := errors.Join(ctx.Err(), hung); stopped != nil {
		r.Say("the agent stopped the driver and killed %d remaining processes", left)
		if err := errors.Join(endErr, err); err != nil {
			r.Say("cannot stop the driver completely: %v", err)
		}
		if ctx.Err() != nil {
			return exit, ctx.Err()
		}
		return exit, hung
	}
	return exit, errors.Join(endErr, err)
}

// Environment returns the environment of the agent without the trial's configuration.
func Environment() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, record.ConfigEnv+"=") })
}

// DescribeExit describes how a program ended. SIGKILL may mean that the pod reached its memory limit.
func DescribeExit(exit int) string {
	switch {
	case exit == 128+9:
		return "was killed (SIGKILL: was the memory limit of its pod reached?)"
	case exit > 128:
		return fmt.Sprintf("was ended by signal %d", exit-128)
	}
	return fmt.Sprintf("ended with exit code %d", exit)
}
