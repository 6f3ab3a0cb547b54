package loaders

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

var fuzzAttempt = record.Attempt{Trial: record.Trial{Campaign: "c", Cell: "abc", Variant: "arm", Phase: record.Sweep, Clients: 8, Repetition: 1, Placement: 1}, N: 2}

// fuzzCoordinator returns a coordinator of two pods that does not listen.
func fuzzCoordinator(t *testing.T) *Coordinator {
	c := &Coordinator{o: Options{Attempt: fuzzAttempt, Loaders: 2, Beat: within, Silence: within}.withDefaults(), server: &http.Server{ReadHeaderTimeout: within},
		changed: make(chan struct{}), members: map[int]*member{}}
	c.ctx, c.fail = context.WithCancelCause(t.Context())
	return c
}

// frames writes each line of a script as one message, and then some bytes as they are.
func frames(script string, tail []byte) []byte {
	var out []byte
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(line))), line...)
	}
	return append(out, tail...)
}

// FuzzCoordinator sends the bytes of a member to the coordinator. Either the share of the member arrives, or the load fails with a
// reason that an agent reports.
func FuzzCoordinator(f *testing.F) {
	f.Add(true, `{"kind":"ready"}`+"\n"+`{"kind":"started"}`+"\n"+`{"kind":"beat"}`+"\n"+`{"kind":"share","data":{"load":{"rate":5}}}`+"\n"+`{"kind":"answer","data":[1]}`, []byte{})
	f.Add(false, `{"kind":"ready"}`+"\n"+`{"kind":"failed","reason":"DriverFailed","message":"no such program"}`, []byte{})
	f.Add(false, `{"kind":"failed"}`, []byte{})
	f.Add(false, `{"kind":"failed","reason":"Disrupted"}`, []byte{})
	f.Add(false, `{"kind":"failed","reason":"DriverFailed","message":"`+strings.Repeat("é", 10_000)+`"}`, []byte{})
	f.Add(true, "", []byte{0xff, 0xff, 0xff, 0xff})
	f.Add(true, `{"kind":"share","data":null}`, []byte{0, 0, 0, 9, '{'})
	f.Fuzz(func(t *testing.T, released bool, script string, tail []byte) {
		c := fuzzCoordinator(t)
		who, m := joining{Attempt: fuzzAttempt, Loaders: 2, Index: 1, Host: "node-1"}, &member{host: "node-1", stage: joined}
		if status, why := c.admit(who, m); status != 0 {
			t.Fatal(why)
		}
		if released { // the load runs already, so that a share may arrive
			c.released, m.stage, m.started = time.Now(), loading, strings.Contains(script, kindShare)
		}
		theirs, ours := net.Pipe()
		var done = make(chan struct{})
		go func() {
			defer close(done)
			defer c.handlers.Done()
			c.serve(who, m, &link{conn: ours, in: bufio.NewReader(ours), beat: within, silence: within})
		}()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		_, _ = theirs.Write(frames(script, tail)) // fails if the coordinator has ended the connection
		_ = theirs.Close()
		<-done
		switch failure := c.Failed(); {
		case m.stage == ended && failure != nil:
			t.Errorf("the share arrived, but the load failed: %v", failure)
		case m.stage == ended && m.share != nil && !json.Valid(m.share):
			t.Errorf("the share is no JSON: %q", m.share)
		case m.stage < ended && failure == nil:
			t.Error("the member left before its share arrived, but the load did not fail")
		case failure != nil && !record.IsAgentReason(failure.Reason):
			t.Errorf("the load failed for the reason %q, which no agent reports", failure.Reason)
		case failure != nil && len(failure.Message) > maxFailure+100:
			t.Errorf("the message has %d bytes", len(failure.Message))
		}
		c.Close(nil)
	})
}

// FuzzMember sends the bytes of a coordinator to a member. The member ends with a cause that the agent handles.
func FuzzMember(f *testing.F) {
	f.Add(`{"kind":"beat"}`+"\n"+`{"kind":"start"}`+"\n"+`{"kind":"ask","data":"usage"}`+"\n"+`{"kind":"end"}`, []byte{})
	f.Add(`{"kind":"start"}`+"\n"+`{"kind":"abort","reason":"ClusterNotReady","message":"the cluster is not green"}`, []byte{})
	f.Add(`{"kind":"start"}`+"\n"+`{"kind":"start"}`, []byte{})
	f.Add(`{"kind":"abort"}`, []byte{})
	f.Add("", []byte{0, 0, 0, 2, '{', '}'})
	f.Fuzz(func(t *testing.T, script string, tail []byte) {
		theirs, ours := net.Pipe()
		m := &Member{o: Options{Silence: within}.withDefaults(), started: make(chan struct{}), questions: make(chan json.RawMessage, 1),
			link: &link{conn: ours, in: bufio.NewReader(ours), beat: within, silence: within}}
		m.run()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		written := make(chan struct{})
		go func() {
			defer close(written)
			_, _ = theirs.Write(frames(script, tail))
			_ = theirs.Close()
		}()
		<-m.ctx.Done()
		cause := context.Cause(m.ctx)
		var aborted *Aborted
		var lost *record.Error
		switch {
		case errors.Is(cause, errEnded):
		case errors.As(cause, &aborted):
		case !errors.As(cause, &lost) || lost.Reason != record.ReasonLoaderLost:
			t.Errorf("the member ends with %v", cause)
		}
		m.Close()
		<-written
	})
}

// FuzzJoin sends requests to join. Only the pod with the right identity is admitted, and no refusal ends the load.
func FuzzJoin(f *testing.F) {
	valid, err := json.Marshal(joining{Attempt: fuzzAttempt, Loaders: 2, Index: 1, Host: "node-1"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(valid), upgrade)
	f.Add(string(valid), "h2c")
	f.Add(`{"trial":{},"loaders":2,"index":-9223372036854775808,"host":"\n"}`, upgrade)
	f.Add("", "")
	f.Fuzz(func(t *testing.T, who, protocol string) {
		c := fuzzCoordinator(t)
		r := httptest.NewRequest(http.MethodGet, "http://loader-0"+joinPath+"?"+url.Values{"member": {who}}.Encode(), nil)
		r.Header.Set("Upgrade", protocol)
		w := httptest.NewRecorder()
		c.join(w, r) // the recorder's connection cannot be upgraded, so an admitted pod leaves again
		var is joining
		mine := json.Unmarshal([]byte(who), &is) == nil && is.Attempt == fuzzAttempt && is.Loaders == 2 && is.Index == 1 && protocol == upgrade
		if refused := w.Code/100 == 4; refused == mine {
			t.Errorf("status %d for %q", w.Code, who)
		}
		if len(c.members) > 0 || c.Failed() != nil {
			t.Errorf("%d members, %v", len(c.members), c.Failed())
		}
		c.Close(nil)
	})
}
