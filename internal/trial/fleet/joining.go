package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// join lets a member in, or says why not, and listens to it until its connection ends.
func (c *Coordinator) join(w http.ResponseWriter, r *http.Request) {
	var who joining
	if err := json.Unmarshal([]byte(r.URL.Query().Get("member")), &who); err != nil || r.Header.Get("Upgrade") != upgrade {
		http.Error(w, "this is where the loader pods of a trial join, by "+upgrade, http.StatusBadRequest)
		return
	}
	m := &member{host: who.Host, stage: joined}
	if status, why := c.admit(who, m); status != 0 {
		c.o.Say("loader pod %d at %s is refused: %s", who.Index, r.RemoteAddr, why)
		http.Error(w, why, status)
		return
	}
	defer c.handlers.Done()
	l, err := c.accept(w)
	if err != nil {
		c.update(func() { delete(c.members, who.Index) }) // it may try again
		c.o.Say("%s cannot be let in: %v", name(who.Index, who.Host), err)
		return
	}
	c.welcome(who, m, l)
}

// welcome begins to listen to a member, until its connection ends.
func (c *Coordinator) welcome(who joining, m *member, l *link) {
	defer func() { _ = l.conn.Close() }()
	beating, stop := context.WithCancel(context.Background())
	defer stop()
	c.handlers.Go(func() { l.beats(beating) })
	c.update(func() { m.link = l })
	c.o.Say("%s joined", name(who.Index, who.Host))
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	if last != nil { // the load failed, or ended, in this very moment
		c.dismiss(*last)
	}
	c.listen(who.Index, m)
}

// admit makes a member's place, or gives the status and the reason of a refusal. One that is admitted counts as a handler.
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
	case who.Trial != c.o.Trial:
		status, why = http.StatusConflict, "it is of another attempt: "+differ(who, c.o)
	case who.Loaders != c.o.Loaders:
		status, why = http.StatusConflict, fmt.Sprintf("it knows of %d loader pods, the coordinator of %d", who.Loaders, c.o.Loaders)
	case who.Index < 1 || who.Index >= c.o.Loaders:
		status, why = http.StatusBadRequest, fmt.Sprintf("index %d is none of 1 to %d", who.Index, c.o.Loaders-1)
	case taken:
		status, why = http.StatusConflict, fmt.Sprintf("loader pod %d has joined already, from %s", who.Index, c.members[who.Index].host)
	default:
		c.members[who.Index] = m
		c.handlers.Add(1)
		return 0, ""
	}
	if len(c.refused) < maxRefused {
		c.refused = append(c.refused, fmt.Sprintf("one that called itself %s was refused: %s", name(who.Index, who.Host), why))
	}
	return status, why
}

// maxRefused is how many refusals the failure of a load whose members did not come quotes.
const maxRefused = 3

// differ says by what two attempts differ, for a person.
func differ(who joining, o Options) string {
	theirs, ours := who.Trial, o.Trial
	if theirs.Attempt != ours.Attempt {
		return fmt.Sprintf("of attempt %d, not %d", theirs.Attempt, ours.Attempt)
	}
	return fmt.Sprintf("of %s, not %s", identity(theirs), identity(ours))
}

func identity(t record.Trial) string {
	return fmt.Sprintf("%s %d of cell %s with %d clients (campaign %s)", t.Phase, t.Repetition, t.Cell, t.Clients, t.Campaign)
}

// accept turns the request into a link.
func (c *Coordinator) accept(w http.ResponseWriter) (*link, error) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	l := &link{conn: conn, in: bufio.NewReader(buffered), beat: c.o.Beat, silence: c.o.Silence}
	if err := conn.SetWriteDeadline(time.Now().Add(c.o.Silence)); err != nil {
		return nil, err
	}
	// What follows on the line are messages.
	_, err = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", upgrade)
	if err != nil {
		_ = conn.Close() // the error before it tells
	}
	return l, err
}

// listen takes in what a member says until its connection ends. One that ends before the member's share is here is the
// load's failure.
func (c *Coordinator) listen(index int, m *member) {
	var end error
	for end == nil {
		var said message
		if said, end = m.link.receive(); end == nil {
			end = c.take(index, m, said)
		}
	}
	var failure *Failure
	c.update(func() {
		m.gone = true
		if m.stage < ended && !m.dismissed {
			failure = lost("%s was lost %s: %s", name(index, m.host), doing[m.stage], broken(end))
		}
	})
	if failure != nil {
		c.giveUp(failure)
	}
}

// take takes in one message.
func (c *Coordinator) take(index int, m *member, said message) error {
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
		return fmt.Errorf("it says %q %w", said.Kind, errTurn)
	case said.Kind == kindFailed:
		c.giveUp(&Failure{said.Reason, name(index, m.host) + ": " + said.Message})
	}
	return nil
}
