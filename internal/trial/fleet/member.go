package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Member is the side of every other index.
type Member struct {
	o     Options
	link  *link
	loops sync.WaitGroup

	ctx       context.Context // ends with the coordinator's last message, or with it
	end       context.CancelCauseFunc
	started   chan struct{} // closed when the load may begin
	questions chan json.RawMessage
}

// errEnded is the cause of a member's end that the coordinator asked for because all is done.
var errEnded = errors.New("the coordinator needs this loader pod no longer")

// Aborted is a load that the coordinator ended, since it failed there or at another member.
type Aborted struct{ Reason, Message string }

func (a *Aborted) Error() string { return "the coordinator ended the load: " + a.Message }

// Refused is why a member was not let in.
type Refused struct {
	Address string
	Why     string
}

func (r *Refused) Error() string {
	return fmt.Sprintf("the coordinator %s refuses this loader pod: %s", r.Address, r.Why)
}

// Join finds the coordinator, which may not be there yet nor its name known, and joins it. Close must be called.
func Join(ctx context.Context, address string, index int, o Options) (*Member, error) {
	m := &Member{o: o.defaults(), started: make(chan struct{}), questions: make(chan json.RawMessage, 1)}
	waiting, cancel := context.WithTimeout(ctx, m.o.Ready)
	defer cancel()
	began, wait, said := time.Now(), firstWait, ""
	for {
		l, err := m.dial(waiting, address, index)
		if err == nil {
			m.link = l
			m.run()
			return m, nil
		}
		var refused *Refused
		if errors.As(err, &refused) {
			return nil, err
		}
		if why := err.Error(); waiting.Err() == nil && why != said {
			m.o.Say("the coordinator %s is not reached yet: %s", address, why)
			said = why
		}
		select {
		case <-time.After(wait/2 + rand.N(wait/2)):
			wait = min(2*wait, lastWait)
		case <-waiting.Done():
			why := fmt.Sprintf("the coordinator %s could not be reached within %s: %v", address, time.Since(began).Round(time.Millisecond), err)
			if ctx.Err() != nil {
				return nil, fmt.Errorf("%s: %w", why, context.Cause(ctx))
			}
			return nil, lost("%s", why)
		}
	}
}

// How long a member waits from one try to reach the coordinator to the next, and for one.
const (
	firstWait   = 100 * time.Millisecond
	lastWait    = 2 * time.Second
	dialTimeout = 5 * time.Second
)

// dial makes one try.
func (m *Member) dial(ctx context.Context, address string, index int) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	who, err := json.Marshal(joining{Trial: m.o.Trial, Loaders: m.o.Loaders, Index: index, Host: m.o.Host})
	if err != nil {
		return nil, err
	}
	target := url.URL{Scheme: "http", Host: address, Path: joinPath, RawQuery: url.Values{"member": {string(who)}}.Encode()}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Connection", "Upgrade")
	request.Header.Set("Upgrade", upgrade)
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	l := &link{conn: conn, in: bufio.NewReader(conn), beat: m.o.Beat, silence: m.o.Silence}
	if err = shake(l, request, address); err == nil && !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return l, nil
}

// shake turns a connection into a link.
func shake(l *link, request *http.Request, address string) error {
	if err := request.Write(l.conn); err != nil {
		return err
	}
	answer, err := http.ReadResponse(l.in, request)
	if err != nil {
		return err
	}
	if answer.StatusCode == http.StatusSwitchingProtocols {
		return nil // it has no body: what follows are messages
	}
	defer func() { _ = answer.Body.Close() }()
	why, err := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
	if err != nil {
		return err
	}
	text := strings.TrimSpace(string(why))
	if answer.StatusCode/100 == 4 {
		return &Refused{address, text}
	}
	return fmt.Errorf("it answers %s: %s", answer.Status, text)
}

// run begins to listen and to send signs of life.
func (m *Member) run() {
	m.ctx, m.end = context.WithCancelCause(context.Background())
	m.loops.Go(func() { m.link.beats(m.ctx) })
	m.loops.Go(func() {
		for {
			said, err := m.link.receive()
			if err == nil {
				err = m.take(said)
			} else {
				err = lost("the coordinator was lost: %s", broken(err))
			}
			if err != nil {
				m.end(err)
				return
			}
		}
	})
}

// take takes in one message; its error ends the member.
func (m *Member) take(said message) error {
	switch said.Kind {
	case kindStart:
		select {
		case <-m.started:
			return lost("the coordinator says %q twice", said.Kind)
		default:
			close(m.started)
		}
	case kindAsk:
		select {
		case m.questions <- said.Data:
		default:
			return lost("the coordinator asks before it was answered")
		}
	case kindEnd:
		return errEnded
	case kindAbort:
		return &Aborted{said.Reason, said.Message}
	default:
		return lost("the coordinator says %q, which this agent does not know: are all of one version?", said.Kind)
	}
	return nil
}

// Context gives a context that ends, with a Failure as its cause, when the coordinator ends the load or is lost.
func (m *Member) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	return either(ctx, m.ctx, func() bool { return !errors.Is(context.Cause(m.ctx), errEnded) })
}

// Start tells that this member is ready and waits until all are: its load begins as it returns.
func (m *Member) Start(ctx context.Context) error {
	if err := m.send(message{Kind: kindReady}); err != nil {
		return err
	}
	select {
	case <-m.started:
		return m.send(message{Kind: kindStarted})
	case <-m.ctx.Done():
		return context.Cause(m.ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// send gives, where the coordinator cannot be reached, what is known of its end.
func (m *Member) send(said message) error {
	err := m.link.send(said)
	if err == nil || errors.Is(err, errTooLong) {
		return err
	}
	select {
	case <-m.ctx.Done(): // its last message may have come before
		return context.Cause(m.ctx)
	case <-time.After(m.o.Silence):
		return lost("the coordinator was lost: %s", broken(err))
	}
}

// Share sends what this member's load came to.
func (m *Member) Share(share json.RawMessage) error {
	return m.send(message{Kind: kindShare, Data: share})
}

// Fail tells that this member's load failed, with one of the record's reasons, and waits until the coordinator has taken
// note. Its error says that it has not.
func (m *Member) Fail(ctx context.Context, reason, why string) error {
	err := m.send(message{Kind: kindFailed, Reason: reason, Message: why})
	if err == nil {
		waiting, cancel := context.WithTimeoutCause(ctx, m.o.Silence, errLate)
		defer cancel()
		err = m.Serve(waiting, func(json.RawMessage) json.RawMessage { return nil })
	}
	if aborted := (*Aborted)(nil); errors.As(err, &aborted) {
		return nil
	}
	return err
}

// Serve answers the coordinator's questions until it ends this member. Its error is an Aborted where the load failed, and a
// Failure where the coordinator was lost.
func (m *Member) Serve(ctx context.Context, answer func(question json.RawMessage) json.RawMessage) error {
	for {
		select {
		case question := <-m.questions:
			if err := m.send(message{Kind: kindAnswer, Data: answer(question)}); err != nil {
				return err
			}
		case <-m.ctx.Done():
			if cause := context.Cause(m.ctx); !errors.Is(cause, errEnded) {
				return cause
			}
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close ends the connection. A member that closes it before its share was sent is lost to the coordinator.
func (m *Member) Close() {
	m.end(errEnded)
	_ = m.link.conn.Close()
	m.loops.Wait()
}
