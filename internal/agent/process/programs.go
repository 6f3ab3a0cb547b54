package process

import (
	"context"
	"io"
	"time"
)

// Programs starts programs and accounts for their processes. Tests replace the implementation.
type Programs interface {
	// Start runs a program. It copies the output to a writer while the program runs.
	Start(name string, args, env []string, dir string, output io.Writer) (Running, error)
	// EndAll kills all processes of the started programs that still run. It returns how many processes it killed.
	EndAll(ctx context.Context) (int, error)
	// Sample records the CPU time and the memory of all running processes.
	Sample(*Usage)
}

// Running is a running program; see Child.
type Running interface {
	Done() <-chan struct{}
	Stop(grace time.Duration)
	End(within time.Duration) (int, error)
}

// Machine implements Programs with real processes.
type Machine struct{}

// Start starts a program.
func (Machine) Start(name string, args, env []string, dir string, output io.Writer) (Running, error) {
	child, err := Start(name, args, env, dir, output)
	if err != nil {
		return nil, err // child is a nil *Child here; as a Running, it would not be equal to nil
	}
	return child, nil
}

// EndAll ends all processes that the agent started.
func (Machine) EndAll(ctx context.Context) (int, error) { return EndAll(ctx) }

// Sample records the current resource usage in u.
func (Machine) Sample(u *Usage) { u.Sample() }

// OwnMachine returns the Programs that start real processes.
func OwnMachine() Programs { return Machine{} }
