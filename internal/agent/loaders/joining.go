package loaders

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// join admits or refuses a member. Then it reads the messages of an admitted member until the connection ends.
func (c *Coordinator) join(w http.ResponseWriter, r *http.Request) {
	var who joining
	if err := json.Unmarshal([]byte(r.URL.Query().Get("member")), &who); err != nil || r.Header.Get("Upgrade") != upgrade {
		http.Error(w, "only the loader pods of a trial can join here, with the protocol "+upgrade, http.StatusBadRequest)
		return
	}
	m := &member{host: who.Host, stage: joined}
	if status, why := c.admit(who, m); status != 0 {
		c.o.Say("loader pod 0 refuses the connection of loader pod %d from the address %s: %s", who.Index, r.RemoteAddr, why)
		http.Error(w, why, status)
		return
	}
	defer c.handlers.Done()
	l, err := c.upgrade(w)
	if err != nil {
		c.update(func() { delete(c.members, who.Index) }) // a later attempt of the pod may succeed
		c.o.Say("loader pod 0 cannot accept the connection of %s: %v", memberName(who.Index, who.Host), err)
		return
	}
	c.serve(who, m, l)
}

// serve starts the beats for a member, and reads its messages until the connection ends.
func (c *Coordinator) serve(who joining, m *member, l *link) {
	defer func() { _ = l.conn.Close() }()
	beating, stop := context.WithCancel(context.Background())
	defer stop()
	c.handlers.Go(func() { l.sendBeats(beating) })
	c.update(func() { m.link = l })
	c.o.Say("%s joined", memberName(who.Index, who.Host))
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	if last != nil { // the load failed or ended while this member joined
		c.dismiss(*last)
	}
	c.listen(who.Index, m)
}

// admit registers a member, or returns the HTTP status and the reason why the member is refused. It also adds an admitted
// member to c.handlers.
func (c *Coordinator) admit(who joining, m *member) (status int, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, taken := c.members[who.Index]
	failure := c.Failed()
	switch {
	case c.closing:
		return http.StatusGone, "the trial is over"
	case failure != nil:
		return http.StatusGone, "the trial failed: " + failure.Message
	case who.Attempt != c.o.Attempt:
		status, why = http.StatusConflict, "the connecting pod belongs to a different attempt or trial: "+describeDifference(who, c.o)
	case who.Loaders != c.o.Loaders:
		status, why = http.StatusConflict, fmt.Sprintf("the pod expects %d loader pods, but loader pod 0 expects %d", who.Loaders, c.o.Loaders)
	case who.Index < 1 || who.Index >= c.o.Loaders:
		status, why = http.StatusBadRequest, fmt.Sprintf("index %d is not from 1 to %d", who.Index, c.o.Loaders-1)
	case taken:
		status, why = http.StatusConflict, fmt.Sprintf("loader pod %d has joined already, from %s", who.Index, c.members[who.Index].host)
	default:
		c.members[who.Index] = m
		c.handlers.Add(1)
		return 0, ""
	}
	if len(c.refused) < maxRefused {
		c.refused = append(c.refused, fmt.Sprintf("loader pod 0 refused a pod that tried to join as %s: %s", memberName(who.Index, who.Host), why))
	}
	return status, why
}

// maxRefused is the maximum number of refusals that an error about missing members quotes.
const maxRefused = 3

// describeDifference describes how two attempts differ.
func describeDifference(who joining, o Options) string {
	theirs, ours := who.Attempt, o.Attempt
	if theirs.N != ours.N {
		return fmt.Sprintf("attempt %d instead of attempt %d", theirs.N, ours.N)
	}
	return fmt.Sprintf("the trial %s instead of the trial %s", describeTrial(theirs.Trial), describeTrial(ours.Trial))
}

func describeTrial(t record.Trial) string {
	return fmt.Sprintf("%s %d of cell %s with %d clients (campaign %s)", t.Phase, t.Repetition, t.Cell, t.Clients, t.Campaign)
}

// upgrade converts the HTTP connection to a link.
func (c *Coordinator) upgrade(w http.ResponseWriter) (*link, error) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	l := &link{conn: conn, in: bufio.NewReader(buffered), beat: c.o.Beat, silence: c.o.Silence}
	if err := conn.SetWriteDeadline(time.Now().Add(c.o.Silence)); err != nil {
		return nil, err
	}
	// This response is the last text in HTTP. After it, both sides send only messages.
	_, err = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", upgrade)
	if err != nil {
		_ = conn.Close() // the write error is more useful than the error of Close
	}
	return l, err
}

// listen reads the messages of a member until the connection ends. If the connection ends before the member's share arrived,
// the load fails.
func (c *Coordinator) listen(index int, m *member) {
	var end error
	for end == nil {
		var said message
		if said, end = m.link.receive(); end == nil {
			end = c.handleMessage(index, m, said)
		}
	}
	var failure *record.Error
	c.update(func() {
		m.hasLeft = true
		if m.stage < ended && !m.dismissed {
			failure = lostError("%s was lost %s: %s", memberName(index, m.host), doing[m.stage], describeEnd(end))
		}
	})
	if failure != nil {
		c.giveUp(failure)
	}
}

// handleMessage updates the state of a member according to a message. It returns an error if the message does not fit the
// state.
func (c *Coordinator) handleMessage(index int, m *member, said message) error {
	now := time.Now()
	known := true
	c.update(func() {
		switch {
		case said.Kind == kindReady && m.stage == joined:
			m.stage = ready
		case said.Kind == kindStarted && m.stage == loading && !m.started:
			m.started = true
		case said.Kind == kindShare && m.stage == loading && m.started:
			m.stage, m.ended, m.share = ended, now, said.Data
		case said.Kind == kindAnswer && m.asked:
			m.asked, m.answer = false, said.Data
		default:
			known = said.Kind == kindFailed && m.stage < ended
		}
	})
	switch {
	case !known:
		return fmt.Errorf("the loader pod sent the message %q: %w", said.Kind, errTurn)
	case said.Kind == kindFailed:
		c.giveUp(failureOf(said, memberName(index, m.host)))
	}
	return nil
}

// failureOf returns the error that a member reports. The reason decides whether Knee repeats the attempt, so a reason that no agent
// gives counts as a lost member.
func failureOf(said message, name string) *record.Error {
	text := strings.ToValidUTF8(said.Message[:min(len(said.Message), maxFailure)], "")
	if !record.IsAgentReason(said.Reason) {
		return lostError("%s failed with the unknown reason %.40q: %s", name, said.Reason, text)
	}
	return &record.Error{Reason: said.Reason, Message: name + ": " + text}
}
