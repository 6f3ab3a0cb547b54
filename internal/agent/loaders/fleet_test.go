package loaders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/loopback"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// within is the time limit of every wait in these tests. A wait that takes longer counts as hanging.
const within = time.Minute

// crew holds a coordinator and the options with which its members are created.
type crew struct {
	*testing.T
	*Coordinator
	o     Options
	mu    sync.Mutex
	lines []string
}

func newCrew(t *testing.T, o Options) *crew {
	t.Helper()
	c := &crew{T: t, o: o}
	c.o.Attempt = record.Attempt{Trial: record.Trial{Campaign: "c", Cell: "abc", Variant: "arm", Phase: record.Sweep, Clients: 8, Repetition: 1, Placement: 1}, N: 2}
	if c.o.Beat == 0 {
		c.o.Beat = 20 * time.Millisecond
	}
	own := c.o
	own.Host = "node-0"
	own.Say = func(format string, args ...any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.lines = append(c.lines, fmt.Sprintf(format, args...))
	}
	var err error
	if c.Coordinator, err = Listen(t.Context(), "127.0.0.1:0", own); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(nil) })
	return c
}

// said reports whether the coordinator printed a line that contains the words.
func (c *crew) said(words string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Contains(strings.Join(c.lines, "\n"), words)
}

// member creates the Member with the given index and joins it to the coordinator. The functions in change can adapt
// the Member's options.
func (c *crew) member(index int, change ...func(*Options)) *Member {
	c.Helper()
	m, err := c.try(index, change...)
	if err != nil {
		c.Fatal(err)
	}
	return m
}

func (c *crew) try(index int, change ...func(*Options)) (*Member, error) {
	o := c.o
	o.Host = fmt.Sprintf("node-%d", index)
	for _, f := range change {
		f(&o)
	}
	ctx, cancel := context.WithTimeout(c.T.Context(), within)
	defer cancel()
	m, err := Join(ctx, c.Addr().String(), index, o)
	if err == nil {
		c.Cleanup(m.Close)
	}
	return m, err
}

// soon returns a context that is cancelled after a minute (the constant within).
func (c *crew) soon() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	c.Cleanup(cancel)
	return ctx
}

// barrier calls Start of the coordinator and of all members. It returns when all these calls have returned.
func (c *crew) barrier(members ...*Member) {
	c.Helper()
	var all sync.WaitGroup
	for _, m := range members {
		all.Go(func() {
			if err := m.Start(c.soon()); err != nil {
				c.Errorf("a member does not begin: %v", err)
			}
		})
	}
	if err := c.Start(c.soon()); err != nil {
		c.Fatal(err)
	}
	all.Wait()
}

// wantLost checks that an error has the reason LoaderLost and that its message contains the words.
func (c *crew) wantLost(err error, words ...string) {
	c.Helper()
	var f *record.Error
	if !errors.As(err, &f) || f.Reason != record.ReasonLoaderLost {
		c.Fatalf("got %v, want a failure of reason %s", err, record.ReasonLoaderLost)
	}
	for _, w := range words {
		if !strings.Contains(f.Message, w) {
			c.Errorf("message %q does not hold %q", f.Message, w)
		}
	}
}

// wantAborted checks that the coordinator ends the member with an Aborted error whose message contains the words.
func (c *crew) wantAborted(m *Member, words string) {
	c.Helper()
	err := m.Serve(c.soon(), nil)
	var a *Aborted
	if !errors.As(err, &a) || !strings.Contains(a.Message, words) {
		c.Errorf("the member ended by %v, want an Aborted with %q", err, words)
	}
}

func TestCoordinator_allMembersFinish_collectsShares(t *testing.T) {
	for _, n := range []int{1, 2, 64} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			c := newCrew(t, Options{Loaders: n})
			var all sync.WaitGroup
			var mu sync.Mutex
			sending, before := false, 0
			for i := 1; i < n; i++ {
				all.Go(func() {
					m, err := c.try(i)
					if err != nil {
						t.Error(err)
						return
					}
					defer m.Close()
					if err := m.Start(c.soon()); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if !sending {
						before++
					}
					mu.Unlock()
					if err := m.Share(json.RawMessage(fmt.Sprintf(`{"documents":%d}`, 100*i))); err != nil {
						t.Error(err)
					}
					err = m.Serve(c.soon(), func(q json.RawMessage) json.RawMessage {
						return json.RawMessage(fmt.Sprintf(`[%s,%d]`, q, i))
					})
					if err != nil {
						t.Errorf("member %d ended by %v", i, err)
					}
				})
			}
			// The coordinator gets ready last. No member may begin its load before that.
			waiting, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			if err := c.await(waiting, func() bool { return c.countInStage(ready) == n-1 }); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			if before > 0 {
				t.Errorf("%d members began before all were ready", before)
			}
			sending = true
			mu.Unlock()
			if err := c.Start(c.soon()); err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("%d loader pods started the load within ", n); !c.said(want) {
				t.Errorf("no line %q in %q", want, c.lines)
			}
			shares, err := c.Shares(c.soon(), true)
			if err != nil {
				t.Fatal(err)
			}
			if len(shares) != n-1 {
				t.Fatalf("%d shares", len(shares))
			}
			for i, s := range shares {
				if s.Index != i+1 || s.Host != fmt.Sprintf("node-%d", i+1) || string(s.Data) != fmt.Sprintf(`{"documents":%d}`, 100*(i+1)) || s.Ended.IsZero() {
					t.Errorf("share %d is %+v", i, s)
				}
			}
			answers := c.Ask(c.soon(), json.RawMessage(`"cpu"`))
			if len(answers) != n-1 {
				t.Fatalf("%d answers", len(answers))
			}
			for i, s := range answers {
				if want := fmt.Sprintf(`["cpu",%d]`, i+1); string(s.Data) != want {
					t.Errorf("answer %s, want %s", s.Data, want)
				}
			}
			load, cancel := c.Context(t.Context())
			defer cancel()
			c.Close(nil)
			all.Wait()
			if load.Err() != nil {
				t.Error("what goes well ends what comes after the load")
			}
		})
	}
}

func TestCoordinatorStart_missingMembers_areNamed(t *testing.T) {
	c := newCrew(t, Options{Loaders: 5, Ready: 300 * time.Millisecond})
	waits, prepares := c.member(1), c.member(3)
	stranger := c.o
	stranger.Attempt.N = 1
	_, err := Join(c.soon(), c.Addr().String(), 4, stranger)
	if refused := (*Refused)(nil); !errors.As(err, &refused) {
		t.Fatalf("a member of another attempt gets %v", err)
	}
	started := make(chan error, 1)
	go func() { started <- waits.Start(c.soon()) }()
	c.wantLost(c.Start(c.soon()), "loader pods 2 and 4 did not connect to loader pod 0", "loader pod 3 on node-3 did not get ready for the load", "within 300ms", "attempt 1 instead of attempt 2")
	if err := <-started; !errors.As(err, new(*Aborted)) {
		t.Errorf("the member that was ready gets %v", err)
	}
	c.wantAborted(prepares, "did not connect to loader pod 0")
	if _, err := c.try(2); err == nil || !strings.Contains(err.Error(), "the trial failed") {
		t.Errorf("one that comes too late gets %v", err)
	}
}

func TestAssemble_missingMember_timesOut(t *testing.T) {
	c := newCrew(t, Options{Loaders: 3, Ready: 300 * time.Millisecond})
	c.member(1)
	err := c.Assemble(c.soon())
	c.wantLost(err, "loader pod 2 did not connect to loader pod 0 within 300ms")
	if strings.Contains(err.Error(), "loader pod 1") {
		t.Errorf("who came and prepares is blamed: %v", err)
	}
}

func TestAssemble_lastMemberJoins_returns(t *testing.T) {
	c := newCrew(t, Options{Loaders: 3})
	c.member(1)
	assembled := make(chan error, 1)
	go func() { assembled <- c.Assemble(c.soon()) }()
	c.member(2)
	if err := <-assembled; err != nil {
		t.Error(err)
	}
}

func TestAssemble_memberFails_returnsItsError(t *testing.T) {
	c := newCrew(t, Options{Loaders: 3})
	m := c.member(1)
	assembled := make(chan error, 1)
	go func() { assembled <- c.Assemble(c.soon()) }()
	if err := m.Fail(c.soon(), record.ReasonDriverFailed, "no such program"); err != nil {
		t.Error(err)
	}
	var f *record.Error
	if err := <-assembled; !errors.As(err, &f) || f.Reason != record.ReasonDriverFailed {
		t.Errorf("%v", err)
	}
}

func TestJoin_wrongMember_isRefused(t *testing.T) {
	c := newCrew(t, Options{Loaders: 3})
	c.member(1)
	for name, s := range map[string]struct {
		index  int
		change func(*Options)
		words  string
	}{
		"another attempt":   {2, func(o *Options) { o.Attempt.N = 7 }, "attempt 7 instead of attempt 2"},
		"another trial":     {2, func(o *Options) { o.Attempt.Clients = 16 }, "Sweep 1 of cell abc with 16 clients (campaign c) instead of"},
		"another campaign":  {2, func(o *Options) { o.Attempt.Campaign = "d" }, "(campaign d) instead of"},
		"other loaders":     {2, func(o *Options) { o.Loaders = 4 }, "the pod expects 4 loader pods, but loader pod 0 expects 3"},
		"the coordinator's": {0, func(*Options) {}, "index 0 is not from 1 to 2"},
		"out of range":      {3, func(*Options) {}, "index 3 is not from 1 to 2"},
		"below":             {-1, func(*Options) {}, "index -1 is not from 1 to 2"},
		"taken":             {1, func(*Options) {}, "loader pod 1 has joined already, from node-1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.try(s.index, s.change)
			var refused *Refused
			if !errors.As(err, &refused) || !strings.Contains(refused.Why, s.words) {
				t.Errorf("got %v, want a refusal with %q", err, s.words)
			}
		})
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.Addr().String()+joinPath+"?member={}", nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a request that is no member's gets %s", answer.Status)
	}
	if f := c.Failed(); f != nil {
		t.Errorf("who is not let in failed the load: %v", f)
	}
}

func TestCoordinator_memberLostMidLoad_failsLoad(t *testing.T) {
	for name, s := range map[string]struct {
		lose  func(*Member)
		words string
	}{
		"its connection is closed": {func(m *Member) { _ = m.link.conn.Close() }, "the connection was closed"},
		"its connection is cut": {func(m *Member) {
			_ = m.link.conn.(*net.TCPConn).SetLinger(0)
			_ = m.link.conn.Close()
		}, "the connection broke: "},
		"it falls silent":             {func(m *Member) { m.link.writing.Lock() }, "no message received for 2s"},
		"it talks nonsense":           {func(m *Member) { _ = m.link.send(message{Kind: "what"}) }, `the loader pod sent the message "what": loader pod 0 expects another message in this phase of the load`},
		"it talks in the wrong state": {func(m *Member) { _ = m.link.send(message{Kind: kindReady}) }, `the loader pod sent the message "ready": loader pod 0 expects another message in this phase of the load`},
		"it talks too much":           {func(m *Member) { _, _ = m.link.conn.Write([]byte{0xff, 0, 0, 0}) }, "a message between loader pods is too long"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrew(t, Options{Loaders: 3, Silence: 2 * time.Second})
			good, bad := c.member(1), c.member(2)
			c.barrier(good, bad)
			load, cancel := c.Context(t.Context())
			defer cancel()
			s.lose(bad)
			select {
			case <-load.Done():
			case <-c.soon().Done():
				t.Fatal("the load goes on")
			}
			c.wantLost(context.Cause(load), "loader pod 2 on node-2 was lost during the load", s.words)
			_, err := c.Shares(c.soon(), false)
			c.wantLost(err, "loader pod 2")
			c.wantAborted(good, "loader pod 2 on node-2 was lost")
			if name == "it falls silent" {
				bad.link.writing.Unlock()
			}
		})
	}
}

func TestCoordinatorStart_memberLost_fails(t *testing.T) {
	c := newCrew(t, Options{Loaders: 3})
	c.member(1).Close()
	c.wantLost(c.Start(c.soon()), "loader pod 1 on node-1 was lost while the pod prepared its load")
}

func TestShares_memberFails_returnsItsError(t *testing.T) {
	c := newCrew(t, Options{Loaders: 3})
	good, bad := c.member(1), c.member(2)
	c.barrier(good, bad)
	if err := bad.Fail(c.soon(), record.ReasonDriverFailed, "exit code 64"); err != nil {
		t.Errorf("the failure was not taken note of: %v", err)
	}
	_, err := c.Shares(c.soon(), true)
	var f *record.Error
	if !errors.As(err, &f) || f.Reason != record.ReasonDriverFailed || f.Message != "loader pod 2 on node-2: exit code 64" {
		t.Errorf("got %v", err)
	}
	c.wantAborted(good, "exit code 64")
}

func TestCoordinatorClose_withError_abortsAllMembers(t *testing.T) {
	c := newCrew(t, Options{Loaders: 4})
	members := []*Member{c.member(1), c.member(2), c.member(3)}
	c.barrier(members...)
	load, cancel := members[2].Context(t.Context())
	defer cancel()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		c.Close(errors.New("opensearch-benchmark ended with exit code 1"))
	}()
	select {
	case <-load.Done():
	case <-c.soon().Done():
		t.Fatal("the member's load goes on")
	}
	for _, m := range members {
		c.wantAborted(m, "exit code 1")
		m.Close()
	}
	<-closed
}

func TestMember_coordinatorLost_fails(t *testing.T) {
	for name, words := range map[string]string{"dies": "the connection ", "falls silent": "no message received for 2s"} {
		t.Run(name, func(t *testing.T) {
			c := newCrew(t, Options{Loaders: 2, Silence: 2 * time.Second})
			m := c.member(1)
			c.barrier(m)
			c.mu2().Lock()
			l := c.members[1].link
			c.mu2().Unlock()
			if name == "dies" {
				_ = l.conn.Close()
			} else {
				l.writing.Lock()
				defer l.writing.Unlock()
			}
			c.wantLost(m.Serve(c.soon(), nil), "this loader pod lost its connection to loader pod 0, which coordinates the load: "+words)
			if err := m.Fail(c.soon(), record.ReasonDriverFailed, "stopped"); err == nil {
				t.Error("a coordinator that is lost took note of a failure")
			}
		})
	}
}

// mu2 returns the lock of the coordinator. crew has another lock with the name mu.
func (c *crew) mu2() *sync.Mutex { return &c.Coordinator.mu }

func TestShares_slowLoaderPod(t *testing.T) {
	t.Run("never ends", func(t *testing.T) {
		c := newCrew(t, Options{Loaders: 4, Lag: 200 * time.Millisecond})
		members := []*Member{c.member(1), c.member(2), c.member(3)}
		c.barrier(members...)
		for _, m := range members[:2] {
			if err := m.Share(json.RawMessage(`{}`)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := c.Shares(c.soon(), true)
		c.wantLost(err, "loader pod 3 on node-3 fell behind", "0.2 s later at most")
		c.wantAborted(members[2], "fell behind")
	})
	t.Run("ends too late", func(t *testing.T) {
		c := newCrew(t, Options{Loaders: 3})
		members := []*Member{c.member(1), c.member(2)}
		c.barrier(members...)
		now := time.Now()
		c.update(func() {
			c.released = now.Add(-300 * time.Second)
			for _, m := range c.members {
				m.stage, m.ended = ended, now.Add(-100*time.Second)
			}
			c.members[2].ended = now.Add(-70 * time.Second)
		})
		// At least half of the pods (2 of 3) had ended after 230 s, and the limit is 23 s later. Both members ended
		// before the limit, but the coordinator (loader pod 0) did not.
		c.update(func() { c.members[1].ended = now.Add(-100 * time.Second) })
		_, err := c.Shares(c.soon(), true)
		c.wantLost(err, "loader pod 0 on node-0 fell behind", "after 230.0 s", "23.0 s later at most")
	})
	t.Run("a counted load may take its time", func(t *testing.T) {
		c := newCrew(t, Options{Loaders: 3, Lag: time.Nanosecond})
		members := []*Member{c.member(1), c.member(2)}
		c.barrier(members...)
		now := time.Now()
		c.update(func() { // half of the pods ended after 100 s, and the coordinator ends after 190 s
			c.released = now.Add(-190 * time.Second)
			for _, m := range c.members {
				m.stage, m.ended = ended, now.Add(-90*time.Second)
			}
		})
		if shares, err := c.Shares(c.soon(), false); err != nil || len(shares) != 2 {
			t.Errorf("%v, %v", shares, err)
		}
		if f := c.Failed(); f != nil {
			t.Error(f)
		}
	})
	t.Run("of a counted load one takes twice as long", func(t *testing.T) {
		c := newCrew(t, Options{Loaders: 6, Lag: time.Nanosecond})
		c.barrier(c.member(1), c.member(2), c.member(3), c.member(4), c.member(5))
		now := time.Now()
		c.update(func() { // half of the pods ended after 100 s, the coordinator ends after 200.5 s, and pod 5 still loads
			c.released = now.Add(-200500 * time.Millisecond)
			for i := 1; i <= 4; i++ {
				c.members[i].stage, c.members[i].ended = ended, now.Add(-100500*time.Millisecond)
			}
		})
		_, err := c.Shares(c.soon(), false)
		c.wantLost(err, "loader pods 0 and 5 on node-0, node-5 fell behind", "after 100.0 s", "100.0 s later at most")
	})
	t.Run("half do not end", func(t *testing.T) {
		c := newCrew(t, Options{Loaders: 4, Lag: time.Nanosecond})
		c.barrier(c.member(1), c.member(2), c.member(3))
		waiting, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, errors.New("the deadline passed"))
		defer cancel()
		if _, err := c.Shares(waiting, false); err == nil || err.Error() != "loader pod 0 stopped waiting before loader pods 1, 2 and 3 on node-1, node-2, node-3 finished the load: the deadline passed" {
			t.Errorf("got %v", err)
		}
	})
}

func TestAsk_memberLostAfterShare_isSkipped(t *testing.T) {
	c := newCrew(t, Options{Loaders: 3})
	one, two := c.member(1), c.member(2)
	c.barrier(one, two)
	for _, m := range []*Member{one, two} {
		if err := m.Share(json.RawMessage(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Shares(c.soon(), true); err != nil {
		t.Fatal(err)
	}
	one.Close()
	go func() {
		_ = two.Serve(c.soon(), func(json.RawMessage) json.RawMessage { return json.RawMessage(`1`) })
	}()
	if got := c.Ask(c.soon(), json.RawMessage(`"cpu"`)); len(got) != 1 || got[0].Index != 2 {
		t.Errorf("answers %+v", got)
	}
	if f := c.Failed(); f != nil {
		t.Error(f)
	}
}

func TestJoin_coordinatorStartsLater_succeeds(t *testing.T) {
	address := loopback.Address()
	tried := make(chan struct{}, 100)
	attempt := record.Attempt{Trial: record.Trial{Placement: 1}, N: 1}
	o := Options{Attempt: attempt, Loaders: 2, Say: func(string, ...any) { tried <- struct{}{} }}
	joins := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	go func() {
		m, err := Join(ctx, address, 1, o)
		if err == nil {
			defer m.Close()
			err = m.Serve(ctx, nil)
		}
		joins <- err
	}()
	<-tried // a failed attempt to connect
	c, err := Listen(t.Context(), address, Options{Attempt: attempt, Loaders: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.await(ctx, func() bool { return c.countInStage(joined) == 1 }); err != nil {
		t.Fatal(err)
	}
	c.Close(nil)
	if err := <-joins; err != nil {
		t.Error(err)
	}
}

func TestJoin_unreachableCoordinator_fails(t *testing.T) {
	for name, address := range map[string]string{"nobody listens": "127.0.0.1:1", "its name is not known": "no-such-name.invalid:9210"} {
		t.Run(name, func(t *testing.T) {
			c := crew{T: t}
			_, err := Join(t.Context(), address, 1, Options{Loaders: 2, Ready: 500 * time.Millisecond})
			c.wantLost(err, "this loader pod could not reach loader pod 0 at "+address+" within ")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, errors.New("the deadline passed"))
			defer cancel()
			if _, err := Join(ctx, address, 1, Options{Loaders: 2}); err == nil || !strings.Contains(err.Error(), "the deadline passed") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestShare_tooLong_fails(t *testing.T) {
	c := newCrew(t, Options{Loaders: 2})
	m := c.member(1)
	c.barrier(m)
	long, err := json.Marshal(strings.Repeat("x", maxMessage))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Share(long); !errors.Is(err, errTooLong) {
		t.Errorf("got %v", err)
	}
	long, err = json.Marshal(strings.Repeat("x", maxMessage-100))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Share(long); err != nil {
		t.Error(err)
	}
	shares, err := c.Shares(c.soon(), true)
	if err != nil || len(shares) != 1 || len(shares[0].Data) != len(long) {
		t.Errorf("%d shares, %v", len(shares), err)
	}
}

func TestMemberFail_afterAbort_isIgnored(t *testing.T) {
	c := newCrew(t, Options{Loaders: 2})
	m := c.member(1)
	c.barrier(m)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		c.Close(errors.New("all is over"))
	}()
	c.wantAborted(m, "all is over")
	if err := m.Fail(c.soon(), record.ReasonInterrupted, "ended from outside"); err != nil {
		t.Errorf("who was told to end is told of a failure: %v", err)
	}
	m.Close()
	<-closed
	if f := c.Failed(); f != nil {
		t.Error(f)
	}
}

// TestGiveUp_whileClosing_isIgnored checks that a failure of a member does not count if it arrives while Close sends
// the last message.
func TestGiveUp_whileClosing_isIgnored(t *testing.T) {
	c := newCrew(t, Options{Loaders: 2})
	m := c.member(1)
	c.barrier(m)
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.giveUp(&record.Error{Reason: record.ReasonInterrupted, Message: "ended from outside"})
	if f := c.Failed(); f != nil {
		t.Error(f)
	}
}

func TestListNames(t *testing.T) {
	many := make([]int, 255)
	for i := range many {
		many[i] = i + 1
	}
	for want, indices := range map[string][]int{
		"loader pod 3":           {3},
		"loader pods 1 and 2":    {2, 1},
		"loader pods 1, 2 and 3": {3, 1, 2},
		"loader pods 1, 2, 3, 4, 5, 6, 7, 8 and 247 more": many,
	} {
		if got := listNames(indices); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestClose_recordError_sendsReasonOnce checks that members get the reason and the message separately.
func TestClose_recordError_sendsReasonOnce(t *testing.T) {
	c := newCrew(t, Options{Loaders: 2})
	m := c.member(1)
	c.barrier(m)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		c.Close(record.Errorf(record.ReasonDriverFailed, "exit code 64"))
	}()
	var a *Aborted
	if err := m.Serve(c.soon(), nil); !errors.As(err, &a) || a.Reason != record.ReasonDriverFailed || a.Message != "exit code 64" {
		t.Errorf("the member ended by %+v", a)
	}
	m.Close()
	<-closed
}

// TestFailWait_duringClose_returnsError checks that a wait that is late returns an error even if the load is being closed.
func TestFailWait_duringClose_returnsError(t *testing.T) {
	c := newCrew(t, Options{Loaders: 2})
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.wantLost(c.failWait(errLate, func() string { return "loader pod 1 is late" }), "loader pod 1 is late")
}
