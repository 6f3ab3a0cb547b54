package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Gate delays the load of a program until the program may send. A program that is ready opens the gate's FIFO for reading.
// Then it waits until it reads a line.
type Gate struct {
	path   string
	writer *os.File // nil: the program is not ready yet, or already received the start line
	isHeld atomic.Bool
}

// NewGate creates the FIFO of a gate.
func NewGate(path string) (*Gate, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Gate{path: path}, nil
}

// Path returns the path of the FIFO.
func (g *Gate) Path() string { return g.path }

// gateInterval is the interval at which awaitReady checks whether the program is ready.
const gateInterval = 10 * time.Millisecond

// awaitReady waits until the program is ready. If the program ends before it is ready, awaitReady returns errEndedEarly.
func (g *Gate) awaitReady(ctx context.Context, ended <-chan struct{}) error {
	tick := time.NewTicker(gateInterval)
	defer tick.Stop()
	for {
		file, err := os.OpenFile(g.path, os.O_WRONLY|unix.O_NONBLOCK, 0) // fails with ENXIO while the FIFO has no reader; see fifo(7)
		if err == nil {
			g.writer = file
			g.isHeld.Store(true)
			return nil
		}
		if !errors.Is(err, unix.ENXIO) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
			return errEndedEarly
		case <-tick.C:
		}
	}
}

// errEndedEarly is only used internally: the exit code and the output of the program explain the failure.
var errEndedEarly = errors.New("the program ended before the load could start")

// release writes the line that lets the program send.
func (g *Gate) release() error {
	g.isHeld.Store(false)
	_, err := g.writer.WriteString("go\n")
	if errors.Is(err, unix.EPIPE) { // the FIFO has no reader any more
		err = errEndedEarly
	}
	return errors.Join(err, g.Close())
}

// Close closes the FIFO.
func (g *Gate) Close() error {
	if g.writer == nil {
		return nil
	}
	err := g.writer.Close()
	g.writer = nil
	return err
}

// RunGated runs a program that prepares its load and then waits at the gate. When the program is ready, RunGated calls start.
// When start returns, the program may send. If start fails, RunGated stops the program.
func RunGated(ctx context.Context, run func(context.Context, Program) (int, error), p Program, g *Gate, start func(context.Context) error) (exit int, err error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	p.isHeld = g.isHeld.Load
	ended := make(chan struct{})
	alive, died := context.WithCancel(running)
	go func() {
		defer close(ended)
		defer died()
		exit, err = run(running, p)
	}()
	heldBack := g.awaitReady(running, ended)
	if heldBack == nil {
		if heldBack = start(alive); heldBack == nil {
			heldBack = g.release()
		}
	}
	if heldBack != nil {
		stop()
	}
	<-ended
	switch {
	case ctx.Err() != nil:
		return exit, ctx.Err()
	case heldBack == nil || errors.Is(heldBack, errEndedEarly) || errors.Is(heldBack, context.Canceled):
		return exit, err // the exit of the program is the reason, not the gate
	}
	return exit, heldBack
}
