package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// gate holds a program back until it may begin to send: it opens the gate's file, a FIFO, for reading when it is ready,
// and waits for a line.
type gate struct {
	path   string
	writer *os.File // nil: the program is not ready, or has been let go
	held   atomic.Bool
}

func newGate(path string) (*gate, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &gate{path: path}, nil
}

// gateEvery is how often a program is looked at that is not ready yet.
const gateEvery = 10 * time.Millisecond

// await waits until the program is ready, or has ended.
func (g *gate) await(ctx context.Context, ended <-chan struct{}) error {
	tick := time.NewTicker(gateEvery)
	defer tick.Stop()
	for {
		file, err := os.OpenFile(g.path, os.O_WRONLY|unix.O_NONBLOCK, 0) // refused with ENXIO while nobody reads, see fifo(7)
		if err == nil {
			g.writer = file
			g.held.Store(true)
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

// errEndedEarly is no failure of its own: how the program ended tells it.
var errEndedEarly = errors.New("the program ended before it was let go")

// open lets the program go.
func (g *gate) open() error {
	g.held.Store(false)
	_, err := g.writer.WriteString("go\n")
	if errors.Is(err, unix.EPIPE) { // nobody reads any more
		err = errEndedEarly
	}
	return errors.Join(err, g.close())
}

func (g *gate) close() error {
	if g.writer == nil {
		return nil
	}
	err := g.writer.Close()
	g.writer = nil
	return err
}

// runGated runs a program that gets ready first, and sends when every loader pod is ready. One that must not send is
// stopped.
func (a *attempt) runGated(ctx context.Context, p program, g *gate, start func(context.Context) error) (exit int, err error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	p.held = g.held.Load
	ended := make(chan struct{})
	alive, died := context.WithCancel(running)
	go func() {
		defer close(ended)
		defer died()
		exit, err = a.runProgram(running, p)
	}()
	held := g.await(running, ended)
	if held == nil {
		if held = start(alive); held == nil {
			held = g.open()
		}
	}
	if held != nil {
		stop()
	}
	<-ended
	switch {
	case ctx.Err() != nil:
		return exit, ctx.Err()
	case held == nil || errors.Is(held, errEndedEarly) || errors.Is(held, context.Canceled):
		return exit, err // how the program ended tells why
	}
	return exit, held
}
