package loaders

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

// Member is a loader pod with an index above 0.
type Member struct {
	o     Options
	link  *link
	loops sync.WaitGroup

	ctx       context.Context // ends with the coordinator's last message, or when the coordinator is lost
	end       context.CancelCauseFunc
	started   chan struct{} // closed when the load may begin
	questions chan json.RawMessage
}

// errEnded is the cause of the normal end of a member: the load is complete.
var errEnded = errors.New("loader pod 0 reported that the load is complete, so this loader pod ends")

// Aborted is the error of a member whose load the coordinator ended, because the load failed in the coordinator or in another
// member.
type Aborted struct{ Reason, Message string }

func (a *Aborted) Error() string { return "loader pod 0 ended the load: " + a.Message }

// Refused is the error of a member that the coordinator did not admit.
type Refused struct {
	Address string
	Why     string
}

func (r *Refused) Error() string {
	return fmt.Sprintf("loader pod 0 at %s refuses this loader pod: %s", r.Address, r.Why)
}

// Join connects to the coordinator and joins it. It retries, because the coordinator may not exist yet or have no DNS entry
// yet. The caller must call Close.
func Join(ctx context.Context, address string, index int, o Options) (*Member, error) {
	m := &Member{o: o.withDefaults(), started: make(chan struct{}), questions: make(chan json.RawMessage, 1)}
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
			m.o.Say("this loader pod cannot reach loader pod 0 at %s and tries again: %s", address, why)
			said = why
		}
		select {
		case <-time.After(wait/2 + rand.N(wait/2)):
			wait = min(2*wait, lastWait)
		case <-waiting.Done():
			why := fmt.Sprintf("this loader pod could not reach loader pod 0 at %s within %s: %v", address, time.Since(began).Round(100*time.Millisecond), err)
			if ctx.Err() != nil {
				return nil, fmt.Errorf("%s: %w", why, context.Cause(ctx))
			}
			return nil, lostError("%s", why)
		}
	}
}

// Limits for the attempts to reach the coordinator.
const (
	firstWait   = 100 * time.Millisecond
	lastWait    = 2 * time.Second
	dialTimeout = 5 * time.Second
)

// dial makes one attempt to connect to the coordinator.
func (m *Member) dial(ctx context.Context, address string, index int) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	who, err := json.Marshal(joining{Attempt: m.o.Attempt, Loaders: m.o.Loaders, Index: index, Host: m.o.Host})
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
	if err = handshake(l, request, address); err == nil && !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return l, nil
}

// handshake sends the HTTP request and upgrades the connection to a link.
func handshake(l *link, request *http.Request, address string) error {
	if err := request.Write(l.conn); err != nil {
		return err
	}
	answer, err := http.ReadResponse(l.in, request)
	if err != nil {
		return err
	}
	if answer.StatusCode == http.StatusSwitchingProtocols {
		return nil // the response has no body: messages follow
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
	return fmt.Errorf("loader pod 0 answers with the unexpected HTTP status %s: %s", answer.Status, text)
}

// run starts the goroutines that read messages and send signs of life.
func (m *Member) run() {
	m.ctx, m.end = context.WithCancelCause(context.Background())
	m.loops.Go(func() { m.link.sendBeats(m.ctx) })
	m.loops.Go(func() {
		for {
			said, err := m.link.receive()
			if err == nil {
				err = m.handleMessage(said)
			} else {
				err = lostError("this loader pod lost its connection to loader pod 0, which coordinates the load: %s", describeEnd(err))
			}
			if err != nil {
				m.end(err)
				return
			}
		}
	})
}

// handleMessage handles one message from the coordinator. If it returns an error, the member ends. errEnded is the normal
// end.
func (m *Member) handleMessage(said message) error {
	switch said.Kind {
	case kindStart:
		select {
		case <-m.started:
			return lostError("loader pod 0 sent the message %q twice", said.Kind)
		default:
			close(m.started)
		}
	case kindAsk:
		select {
		case m.questions <- said.Data:
		default:
			return lostError("loader pod 0 sent a second question before this loader pod answered the first question")
		}
	case kindEnd:
		return errEnded
	case kindAbort:
		return &Aborted{said.Reason, said.Message}
	default:
		return lostError("loader pod 0 sent the message %q, which this loader pod does not know: check that all loader pods run the same version of Knee", said.Kind)
	}
	return nil
}

// Context returns a context that ends when the coordinator ends the load or is lost. Its cause is then an *Aborted or a
// *record.Error.
func (m *Member) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	return endWithEither(ctx, m.ctx, func() bool { return !errors.Is(context.Cause(m.ctx), errEnded) })
}

// Start reports that this member is ready and waits until all members are ready. The member's load begins when Start returns.
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

// send sends a message. If the coordinator cannot be reached, send returns the reason why the coordinator ended the load. If
// no reason arrives in time, the error reports that the coordinator was lost.
func (m *Member) send(said message) error {
	err := m.link.send(said)
	if err == nil || errors.Is(err, errTooLong) {
		return err
	}
	select {
	case <-m.ctx.Done(): // the member may have received the coordinator's last message, which gives the reason
		return context.Cause(m.ctx)
	case <-time.After(m.o.Silence):
		return lostError("this loader pod lost its connection to loader pod 0, which coordinates the load: %s", describeEnd(err))
	}
}

// Share sends this member's share of the outcome.
func (m *Member) Share(share json.RawMessage) error {
	return m.send(message{Kind: kindShare, Data: share})
}

// Fail reports that this member's load failed, with a Reason of package record. Then it waits until the coordinator confirms
// the failure. It returns an error if the coordinator does not confirm.
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

// Serve answers the coordinator's questions until the coordinator ends this member. It returns an *Aborted if the load
// failed, and a *record.Error if the coordinator was lost.
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

// Close ends the connection. If a member closes the connection before it sent its share, the coordinator counts the member as
// lost.
func (m *Member) Close() {
	m.end(errEnded)
	_ = m.link.conn.Close()
	m.loops.Wait()
}
