package trial

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

	"github.com/knee-bench/knee/internal/record"
)

// stopGrace is how long an interrupted program may take to end: the actors of opensearch-benchmark were seen to take
// 4.4 s.
const stopGrace = 8 * time.Second

// maxMessage bounds what a record quotes of the driver's output.
const maxMessage = 900

// program is one call of a driver's program.
type program struct {
	name   string // in messages
	path   string
	args   []string
	env    []string // beside the agent's own
	output output
	watch  *watch // of the load that it makes; nil when it makes none that is watched

	held func() bool // says that it waits for other loader pods, and does not hang; may be nil
}

// output takes in what a program prints. News counts the lines that say something new: they are a sign of life.
type output interface {
	io.Writer
	News() int64
}

// runProgram runs a program to its end, or stops it when the context ends or it hangs, and leaves no process of it.
func (a *attempt) runProgram(ctx context.Context, p program) (exit int, err error) {
	a.say("%s %s", filepath.Base(p.path), strings.Join(p.args, " "))
	clean := a.secrets.writer(p.output)
	child, err := a.Programs.Start(p.path, p.args, append(environment(), p.env...), a.Work, clean)
	if err != nil {
		return 0, fail(record.ReasonDriverFailed, "%s does not start: %v", p.path, err)
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	var hung error
	select {
	case <-child.Done():
	case hung = <-a.watchOver(watching, p):
		a.say("%v", hung)
		child.Stop(stopGrace)
	case <-ctx.Done():
		child.Stop(stopGrace)
	}
	cancel()
	left, endErr := a.Programs.EndAll(ctx)
	exit, err = child.End(stopGrace)
	_ = clean.flush() // never fails
	if stopped := errors.Join(ctx.Err(), hung); stopped != nil {
		a.say("stopped the driver, %d processes had to be killed: %v", left, errors.Join(endErr, err))
		if ctx.Err() != nil {
			return exit, ctx.Err()
		}
		return exit, hung
	}
	return exit, errors.Join(endErr, err)
}

// environment is the agent's own without what it alone needs.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, record.ConfigEnv+"=") })
}

// ending says how the driver ended. The kernel's word when a pod's memory is used up is SIGKILL.
func ending(exit int) string {
	switch {
	case exit == 128+9:
		return "was killed (SIGKILL: was the memory limit of its pod reached?)"
	case exit > 128:
		return fmt.Sprintf("was ended by signal %d", exit-128)
	}
	return fmt.Sprintf("ended with exit code %d", exit)
}
