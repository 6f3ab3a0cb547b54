package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// stage is how far a member is.
type stage int

const (
	absent  stage = iota
	joined        // it prepares
	ready         // it waits for the start
	loading       //
	ended         // its share is here
)

// doing is what a member of a stage does, for a person.
var doing = map[stage]string{joined: "while it prepared", ready: "while it waited for the start", loading: "in mid-load"}

// member is what the coordinator knows of one other member.
type member struct {
	link      *link
	host      string
	stage     stage
	started   bool // it told that it began
	ended     time.Time
	dismissed bool // it got its last message
	gone      bool // its connection has ended
	share     json.RawMessage
	answer    json.RawMessage // to the last question
	asked     bool            // and has not answered yet
}

// Coordinator is the side of index 0.
type Coordinator struct {
	o        Options
	server   *http.Server
	address  net.Addr
	handlers sync.WaitGroup

	ctx  context.Context // ends with the first failure, or with Close
	fail context.CancelCauseFunc

	mu       sync.Mutex
	changed  chan struct{} // closed, and made anew, whenever a member's state changes
	members  map[int]*member
	refused  []string // the last few that were not let in, and why
	released time.Time
	closing  bool
	last     *message // that members have got, or get as they come; nil: the load can go on
}

// Listen begins to coordinate: from now on members can join. Close must be called.
func Listen(ctx context.Context, address string, o Options) (*Coordinator, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for the other loader pods: %w", err)
	}
	c := &Coordinator{o: o.defaults(), address: listener.Addr(), changed: make(chan struct{}), members: map[int]*member{}}
	c.ctx, c.fail = context.WithCancelCause(context.WithoutCancel(ctx))
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+joinPath, c.join)
	c.server = &http.Server{Handler: mux, ReadHeaderTimeout: c.o.Silence, WriteTimeout: c.o.Silence, IdleTimeout: c.o.Silence, MaxHeaderBytes: maxHeader}
	c.handlers.Go(func() { _ = c.server.Serve(listener) }) // until it is closed
	return c, nil
}

// Addr is where it listens.
func (c *Coordinator) Addr() net.Addr { return c.address }

// Context gives a context that ends, with the Failure as its cause, when the load cannot go on.
func (c *Coordinator) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	return either(ctx, c.ctx, func() bool { return c.Failed() != nil })
}

// Failed is why the load cannot go on; nil while it can.
func (c *Coordinator) Failed() *Failure {
	var f *Failure
	_ = errors.As(context.Cause(c.ctx), &f)
	return f
}

// Assemble waits until every other member has joined.
func (c *Coordinator) Assemble(ctx context.Context) error {
	return c.awaitAll(ctx, joined, func() string { return c.who(absent) + " never came" })
}

// awaitAll waits until every other member has come so far; behind says who has not.
func (c *Coordinator) awaitAll(ctx context.Context, at stage, behind func() string) error {
	waiting, cancel := context.WithTimeoutCause(ctx, c.o.Ready, errLate)
	defer cancel()
	err := c.await(waiting, func() bool { return c.count(at) == c.o.Loaders-1 })
	if err != nil && ctx.Err() != nil && c.Failed() == nil {
		return fmt.Errorf("%s so far: %w", behind(), err)
	}
	return c.blame(err, func() string { return behind() + " within " + c.o.Ready.String() + c.strangers() })
}

// Start waits until every other member is ready and releases them all; the coordinator's own load begins as it returns.
func (c *Coordinator) Start(ctx context.Context) error {
	began := time.Now()
	if err := c.awaitAll(ctx, ready, c.unready); err != nil {
		return err
	}
	waited := time.Since(began)
	first := time.Now()
	c.release(first)
	acknowledged, cancel := context.WithTimeoutCause(ctx, c.o.Silence, errLate)
	defer cancel()
	if err := c.await(acknowledged, c.allStarted); err != nil {
		return c.blame(err, c.unstarted)
	}
	// Each of them began between the first word and its own answer, and the coordinator begins now.
	c.o.Say("%d loader pods begin, within %.1f ms of each other; the last was waited for %.1f s", c.o.Loaders, 1e3*time.Since(first).Seconds(), waited.Seconds())
	return nil
}

// release tells every member to begin, all at once.
func (c *Coordinator) release(now time.Time) {
	c.mu.Lock()
	c.released = now
	links := make([]*link, 0, len(c.members))
	for _, m := range c.members {
		m.stage = loading
		links = append(links, m.link)
	}
	c.mu.Unlock()
	tell(links, message{Kind: kindStart})
}

// tell sends one message to many at once. Who cannot be reached is found lost by the reading side.
func tell(links []*link, m message) {
	var all sync.WaitGroup
	for _, l := range links {
		all.Go(func() { _ = l.send(m) })
	}
	all.Wait()
}

func (c *Coordinator) allStarted() bool {
	for _, m := range c.members {
		if !m.started {
			return false
		}
	}
	return true
}

// count is how many other members have come so far. The lock is held.
func (c *Coordinator) count(at stage) int {
	n := 0
	for _, m := range c.members {
		if m.stage >= at {
			n++
		}
	}
	return n
}

// await waits until a condition, which is asked with the lock held, holds.
func (c *Coordinator) await(ctx context.Context, holds func() bool) error {
	for {
		c.mu.Lock()
		done, changed := holds(), c.changed
		c.mu.Unlock()
		if failure := c.Failed(); failure != nil {
			return failure
		}
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// update changes a member's state and wakes who waits for it.
func (c *Coordinator) update(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// Close tells every member that it is needed no longer or, where there is a reason, that it must end, and waits for them to
// go, some seconds at most.
func (c *Coordinator) Close(why error) {
	last := message{Kind: kindEnd}
	if why != nil {
		last = abortion(why)
	}
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.dismiss(last)
	c.fail(context.Canceled)
	_ = c.server.Close() // the listener, and who has not joined yet
	c.handlers.Wait()
}

// giveUp makes a failure, unless there was one before or all is over, the end of the load, and tells every member.
func (c *Coordinator) giveUp(f *Failure) {
	c.fail(f)
	if first := c.Failed(); first != nil {
		c.dismiss(abortion(first))
	}
}

func abortion(why error) message {
	var f *Failure
	if errors.As(why, &f) {
		return message{Kind: kindAbort, Reason: f.Reason, Message: f.Message}
	}
	return message{Kind: kindAbort, Message: why.Error()}
}

// goodbye is how long members may take to go once they were told to: their drivers end first.
const goodbye = 20 * time.Second

// dismiss sends members their last message, once, and bounds what is still read from them.
func (c *Coordinator) dismiss(last message) {
	c.mu.Lock()
	c.last = &last
	var links []*link
	for _, m := range c.members {
		if !m.dismissed && m.link != nil {
			m.dismissed = true
			links = append(links, m.link)
		}
	}
	c.mu.Unlock()
	tell(links, last)
	for _, l := range links {
		l.finish()
		time.AfterFunc(min(goodbye, l.silence), func() { _ = l.conn.Close() })
	}
}
