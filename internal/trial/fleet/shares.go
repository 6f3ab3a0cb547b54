package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Share is what one member's load came to.
type Share struct {
	Index int
	Host  string
	Ended time.Time       // when it came, by the coordinator's clock: when the member's load had ended
	Data  json.RawMessage // nil where the member gave none
}

// Name names the member and where it runs.
func (s Share) Name() string { return name(s.Index, s.Host) }

// Shares waits for the shares of all other members, ordered by index; the coordinator's own load has just ended. All
// members of a timed load end together: one that ends much later than the median did not make the load that it was to
// make beside the others. Of a counted load the slower ones end later; one that takes twice as long as the median is lost.
func (c *Coordinator) Shares(ctx context.Context, timed bool) ([]Share, error) {
	own := time.Now()
	for {
		c.mu.Lock()
		b, done, changed := c.bound(own, timed), c.count(ended) == c.o.Loaders-1, c.changed
		late := c.late(own, b)
		c.mu.Unlock()
		if failure := c.Failed(); failure != nil {
			return nil, failure
		}
		if late != "" {
			return nil, c.blame(errLate, func() string { return late })
		}
		if done {
			return c.shares(), nil
		}
		c.waitFor(ctx, changed, b)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s had not ended: %w", c.who(loading), context.Cause(ctx))
		}
	}
}

// waitFor waits until something has changed or the load's bound has passed.
func (c *Coordinator) waitFor(ctx context.Context, changed <-chan struct{}, b bound) {
	if b.known() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, b.limit())
		defer cancel()
	}
	select {
	case <-changed:
	case <-c.ctx.Done():
	case <-ctx.Done():
	}
}

// bound is when a load must have ended everywhere: so much later than the median member's did.
type bound struct {
	median time.Time // zero while not half of the members have ended
	lag    time.Duration
}

func (b bound) known() bool      { return !b.median.IsZero() }
func (b bound) limit() time.Time { return b.median.Add(b.lag) }

// bound is that of the ends so far. The lock is held.
func (c *Coordinator) bound(own time.Time, timed bool) bound {
	ends := []time.Time{own}
	for _, m := range c.members {
		if m.stage == ended {
			ends = append(ends, m.ended)
		}
	}
	middle := (c.o.Loaders - 1) / 2
	if len(ends) <= middle {
		return bound{}
	}
	slices.SortFunc(ends, time.Time.Compare)
	median := ends[middle]
	lag := median.Sub(c.released)
	if timed {
		lag /= lagShare
	}
	return bound{median, max(c.o.Lag, lag)}
}

// late says who ended after a bound, or has not ended though it has passed; empty: nobody. The lock is held.
func (c *Coordinator) late(own time.Time, b bound) string {
	if !b.known() {
		return ""
	}
	passed := !time.Now().Before(b.limit())
	var late []int
	if own.After(b.limit()) {
		late = append(late, 0)
	}
	for index, m := range c.members {
		if m.stage == ended && m.ended.After(b.limit()) || m.stage < ended && passed {
			late = append(late, index)
		}
	}
	if len(late) == 0 {
		return ""
	}
	return fmt.Sprintf("%s fell behind: half of the loader pods had ended their load after %.1f s, and the others may end %.1f s later at most",
		c.places(late), b.median.Sub(c.released).Seconds(), b.lag.Seconds())
}

func (c *Coordinator) shares() []Share {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Share
	for index := 1; index < c.o.Loaders; index++ {
		m := c.members[index]
		out = append(out, Share{Index: index, Host: m.host, Ended: m.ended, Data: m.share})
	}
	return out
}

// Ask puts a question to all members whose load has ended, and gives the answers of those that gave one, ordered by index.
func (c *Coordinator) Ask(ctx context.Context, question json.RawMessage) []Share {
	c.mu.Lock()
	var links []*link
	for _, m := range c.members {
		if m.stage == ended && !m.gone && !m.dismissed {
			m.asked, m.answer = true, nil
			links = append(links, m.link)
		}
	}
	c.mu.Unlock()
	tell(links, message{Kind: kindAsk, Data: question})
	waiting, cancel := context.WithTimeout(ctx, c.o.Silence)
	defer cancel()
	_ = c.await(waiting, func() bool { // who did not answer has no answer
		return !slices.ContainsFunc(c.all(), func(m *member) bool { return m.asked && !m.gone })
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Share
	for index, m := range c.members {
		if m.answer != nil {
			out = append(out, Share{Index: index, Host: m.host, Ended: m.ended, Data: m.answer})
		}
	}
	slices.SortFunc(out, func(a, b Share) int { return a.Index - b.Index })
	return out
}

// all are the other members that came. The lock is held.
func (c *Coordinator) all() []*member {
	var out []*member
	for _, m := range c.members {
		out = append(out, m)
	}
	return out
}

// errLate is the end of a wait of the coordinator's own.
var errLate = errors.New("too late")

// blame makes a wait that was too long the load's failure, in the words of who knows whom it waited for.
func (c *Coordinator) blame(err error, why func() string) error {
	if !errors.Is(err, errLate) {
		return err
	}
	c.giveUp(lost("%s", why()))
	return c.Failed()
}

// unready says who kept the load from beginning.
func (c *Coordinator) unready() string {
	var parts []string
	if who := c.who(absent); who != "" {
		parts = append(parts, who+" never came")
	}
	if who := c.who(joined); who != "" {
		parts = append(parts, who+" never got ready")
	}
	return strings.Join(parts, ", ")
}

// strangers tells of those that were not let in.
func (c *Coordinator) strangers() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.refused) == 0 {
		return ""
	}
	return "; " + strings.Join(c.refused, "; ")
}

// unstarted says who did not answer when it was told to begin.
func (c *Coordinator) unstarted() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var silent []int
	for index, m := range c.members {
		if !m.started {
			silent = append(silent, index)
		}
	}
	return fmt.Sprintf("%s did not begin within %s of being told to", c.places(silent), c.o.Silence)
}

// who names the other members of a stage; empty: there are none.
func (c *Coordinator) who(at stage) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []int
	for index := 1; index < c.o.Loaders; index++ {
		if m := c.members[index]; m == nil && at == absent || m != nil && m.stage == at {
			out = append(out, index)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return c.places(out)
}

// places names members and where they run. The lock is held.
func (c *Coordinator) places(indices []int) string {
	var hosts []string
	for _, index := range indices {
		host := c.o.Host
		if index > 0 {
			host = ""
			if m := c.members[index]; m != nil {
				host = m.host
			}
		}
		if host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	hosts = few(hosts)
	if len(hosts) == 0 {
		return names(indices)
	}
	return names(indices) + " on " + strings.Join(hosts, ", ")
}

// maxHosts is how many hosts a message names.
const maxHosts = 3

// few are the first of some names, sorted, and how many more there are.
func few(all []string) []string {
	slices.Sort(all)
	if len(all) <= maxHosts {
		return all
	}
	return append(all[:maxHosts:maxHosts], fmt.Sprintf("%d more", len(all)-maxHosts))
}
