package loaders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// stage is the progress of a member.
type stage int

const (
	absent  stage = iota
	joined        // the member prepares its load
	ready         // the member waits for the start of the load
	loading       //
	ended         // the coordinator has received the member's share
)

// doing describes, for error messages, what a member did in each stage.
var doing = map[stage]string{joined: "while the pod prepared its load", ready: "while the pod waited for the start of the load", loading: "during the load"}

// member holds what the coordinator knows about one other member.
type member struct {
	link      *link
	host      string
	stage     stage
	started   bool // the member reported that its load began
	ended     time.Time
	dismissed bool // the coordinator sent the member its last message
	hasLeft   bool // the member's connection has ended
	share     json.RawMessage
	answer    json.RawMessage // the member's answer to the coordinator's last question
	asked     bool            // the member was asked a question and has not answered yet
}

// Coordinator is the loader pod with index 0.
type Coordinator struct {
	o        Options
	server   *http.Server
	address  net.Addr
	handlers sync.WaitGroup

	ctx  context.Context // ends at the first failure, or when Close is called
	fail context.CancelCauseFunc

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced whenever a member's state changes
	members  map[int]*member
	refused  []string // the first pods that were not admitted, with the reasons
	released time.Time
	closing  bool
	last     *message // the last message for all members, including members that join later; nil: the load can continue
}

// Listen starts the coordinator. From then on, members can join. The caller must call Close.
func Listen(ctx context.Context, address string, o Options) (*Coordinator, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("loader pod 0 cannot listen for connections of the other loader pods: %w", err)
	}
	c := &Coordinator{o: o.withDefaults(), address: listener.Addr(), changed: make(chan struct{}), members: map[int]*member{}}
	c.ctx, c.fail = context.WithCancelCause(context.WithoutCancel(ctx))
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+joinPath, c.join)
	c.server = &http.Server{Handler: mux, ReadHeaderTimeout: c.o.Silence, WriteTimeout: c.o.Silence, IdleTimeout: c.o.Silence, MaxHeaderBytes: maxHeader}
	c.handlers.Go(func() { _ = c.server.Serve(listener) }) // returns when the server is closed
	return c, nil
}

// Addr returns the address at which the coordinator listens.
func (c *Coordinator) Addr() net.Addr { return c.address }

// Context returns a context that ends when the load cannot continue. The cause is then a *record.Error.
func (c *Coordinator) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	return endWithEither(ctx, c.ctx, func() bool { return c.Failed() != nil })
}

// Failed returns the error that ended the load. It returns nil while the load can continue.
func (c *Coordinator) Failed() *record.Error {
	var f *record.Error
	_ = errors.As(context.Cause(c.ctx), &f)
	return f
}

// Assemble waits until every other member has joined.
func (c *Coordinator) Assemble(ctx context.Context) error {
	return c.awaitAll(ctx, joined, func() string { return c.namesInStage(absent) + " did not connect to loader pod 0" })
}

// awaitAll waits until every other member has reached a stage. The function behind returns the names of the members that have
// not reached the stage.
func (c *Coordinator) awaitAll(ctx context.Context, at stage, behind func() string) error {
	waiting, cancel := context.WithTimeoutCause(ctx, c.o.Ready, errLate)
	defer cancel()
	err := c.await(waiting, func() bool { return c.countInStage(at) == c.o.Loaders-1 })
	if err != nil && ctx.Err() != nil && c.Failed() == nil {
		return fmt.Errorf("loader pod 0 stopped waiting for the other loader pods: %s: %w", behind(), err)
	}
	return c.failWait(err, func() string { return behind() + " within " + c.o.Ready.String() + c.describeRefused() })
}

// Start waits until every other member is ready. Then it sends all members the start message and waits until all confirm it.
// The coordinator's own load begins when Start returns.
func (c *Coordinator) Start(ctx context.Context) error {
	began := time.Now()
	if err := c.awaitAll(ctx, ready, c.describeUnready); err != nil {
		return err
	}
	waited := time.Since(began)
	first := time.Now()
	c.release(first)
	acknowledged, cancel := context.WithTimeoutCause(ctx, c.o.Silence, errLate)
	defer cancel()
	if err := c.await(acknowledged, c.haveAllStarted); err != nil {
		return c.failWait(err, c.describeUnstarted)
	}
	// Each member began after the first start message was sent and before the coordinator received the member's confirmation.
	// The coordinator begins now. So all pods began within the time since first.
	c.o.Say("%d loader pods started the load within %.1f ms of each other; loader pod 0 waited %.1f s until all were ready", c.o.Loaders, 1e3*time.Since(first).Seconds(), waited.Seconds())
	return nil
}

// release sends all members the start message at the same time.
func (c *Coordinator) release(now time.Time) {
	c.mu.Lock()
	c.released = now
	links := make([]*link, 0, len(c.members))
	for _, m := range c.members {
		m.stage = loading
		links = append(links, m.link)
	}
	c.mu.Unlock()
	sendAll(links, message{Kind: kindStart})
}

// sendAll sends one message to many links in parallel. It ignores errors: the goroutines that read from the links detect lost
// members.
func sendAll(links []*link, m message) {
	var all sync.WaitGroup
	for _, l := range links {
		all.Go(func() { _ = l.send(m) })
	}
	all.Wait()
}

func (c *Coordinator) haveAllStarted() bool {
	for _, m := range c.members {
		if !m.started {
			return false
		}
	}
	return true
}

// countInStage returns how many other members have reached a stage. The caller holds the lock.
func (c *Coordinator) countInStage(at stage) int {
	n := 0
	for _, m := range c.members {
		if m.stage >= at {
			n++
		}
	}
	return n
}

// await waits until the function holds returns true. It calls this function with c.mu locked.
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

// update changes a member's state and wakes the goroutines that wait for a change.
func (c *Coordinator) update(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// Close sends every member its last message. If why is not nil, that message reports that the load failed. Then Close waits
// until the members have left. The time goodbye limits this wait.
func (c *Coordinator) Close(why error) {
	last := message{Kind: kindEnd}
	if why != nil {
		last = abort(record.ReasonOf(why), why.Error())
		var known *record.Error
		if errors.As(why, &known) {
			last.Message = known.Message // the text of the error begins with the reason
		}
	}
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.dismiss(last)
	c.fail(context.Canceled)
	_ = c.server.Close() // closes the listener, and the connections of pods that have not joined yet
	c.handlers.Wait()
}

// giveUp ends the load with an error and informs every member. It does nothing if the load already failed or ended.
func (c *Coordinator) giveUp(f *record.Error) {
	c.mu.Lock()
	closing := c.closing
	c.mu.Unlock()
	if closing {
		return // Close has sent the last message: from now on, members may end their connections in any way
	}
	c.fail(f)
	if first := c.Failed(); first != nil {
		c.dismiss(abort(first.Reason, first.Message))
	}
}

func abort(reason, text string) message {
	return message{Kind: kindAbort, Reason: reason, Message: text}
}

// goodbye limits the time that members have to leave. A member must end its driver before it leaves.
const goodbye = 20 * time.Second

// dismiss sends each member its last message, but only once. It also limits the time in which a member may still send.
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
	sendAll(links, last)
	for _, l := range links {
		l.finish()
		time.AfterFunc(min(goodbye, l.silence), func() { _ = l.conn.Close() })
	}
}
