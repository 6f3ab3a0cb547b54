package trial

import (
	"context"
	"io"
	"time"

	"github.com/knee-bench/knee/internal/trial/process"
)

// Programs starts the driver's program and accounts for its processes. Unset in Options, it is the machine's own.
type Programs interface {
	// Start runs a program; its output is written as it comes.
	Start(name string, args, env []string, dir string, output io.Writer) (Running, error)
	// EndAll ends all that Start left running, and says how many that were.
	EndAll(ctx context.Context) (int, error)
	// Sample notes the CPU time of all that runs.
	Sample(*process.Usage)
}

// Running is a program that runs; see process.Child.
type Running interface {
	Done() <-chan struct{}
	Stop(grace time.Duration)
	End(within time.Duration) (int, error)
}

// machine is the machine that the agent runs on.
type machine struct{}

func (machine) Start(name string, args, env []string, dir string, output io.Writer) (Running, error) {
	child, err := process.Start(name, args, env, dir, output)
	if err != nil {
		return nil, err // not a nil *Child in an interface
	}
	return child, nil
}

func (machine) EndAll(ctx context.Context) (int, error) { return process.EndAll(ctx) }

func (machine) Sample(u *process.Usage) { u.Sample() }

// OwnMachine are the machine's own programs, for who looks at what they are started with.
func OwnMachine() Programs { return machine{} }
