package loaders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Share is the share of the outcome, or the answer to a question, of one member.
type Share struct {
	Index int
	Host  string
	Ended time.Time       // when the share arrived, by the coordinator's clock; the member's load had ended then
	Data  json.RawMessage // nil if the member sent no data
}

// Name returns the index and host of the member for a message.
func (s Share) Name() string { return memberName(s.Index, s.Host) }

// Shares waits for the shares of all other members and returns them ordered by index. It is called when the coordinator's own
// load has just ended.
//
// All members of a timed load should end together. If a member ends much later than the median member, it did not load the
// cluster together with the others. So the load fails. In a counted load, slower members may end later. Such a load fails
// only if a member takes more than twice as long as the median member. See endBound for the exact limits.
func (c *Coordinator) Shares(ctx context.Context, timed bool) ([]Share, error) {
	own := time.Now()
	for {
		c.mu.Lock()
		b, done, changed := c.endBound(own, timed), c.countInStage(ended) == c.o.Loaders-1, c.changed
		late := c.describeLate(own, b)
		c.mu.Unlock()
		if failure := c.Failed(); failure != nil {
			return nil, failure
		}
		if late != "" {
			return nil, c.failWait(errLate, func() string { return late })
		}
		if done {
			return c.collectShares(), nil
		}
		c.waitForChange(ctx, changed, b)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("loader pod 0 stopped waiting before %s finished the load: %w", c.namesInStage(loading), context.Cause(ctx))
		}
	}
}

// waitForChange waits until the state of a member changes, or until the bound b has passed.
func (c *Coordinator) waitForChange(ctx context.Context, changed <-chan struct{}, b bound) {
	if b.isKnown() {
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

// bound is the time by which the load must have ended in all pods: the end of the median member plus lag.
type bound struct {
	median time.Time // zero until half of the members have ended
	lag    time.Duration
}

func (b bound) isKnown() bool    { return !b.median.IsZero() }
func (b bound) limit() time.Time { return b.median.Add(b.lag) }

// endBound computes the bound from the members that have ended so far. The caller holds the lock.
func (c *Coordinator) endBound(own time.Time, timed bool) bound {
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

// describeLate describes the members that ended after the bound b, or that have not ended although b has passed. It returns
// "" if there are none. The caller holds the lock.
func (c *Coordinator) describeLate(own time.Time, b bound) string {
	if !b.isKnown() {
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
	return fmt.Sprintf("%s fell behind: half of the loader pods had ended their load after %.1f s, and the other pods have to end %.1f s later at most",
		c.namesAndHosts(late), b.median.Sub(c.released).Seconds(), b.lag.Seconds())
}

func (c *Coordinator) collectShares() []Share {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Share
	for index := 1; index < c.o.Loaders; index++ {
		m := c.members[index]
		out = append(out, Share{Index: index, Host: m.host, Ended: m.ended, Data: m.share})
	}
	return out
}

// Ask sends a question to all members whose load has ended. It returns the answers, ordered by index. Members that do not
// answer are missing.
func (c *Coordinator) Ask(ctx context.Context, question json.RawMessage) []Share {
	c.mu.Lock()
	var links []*link
	for _, m := range c.members {
		if m.stage == ended && !m.hasLeft && !m.dismissed {
			m.asked, m.answer = true, nil
			links = append(links, m.link)
		}
	}
	c.mu.Unlock()
	sendAll(links, message{Kind: kindAsk, Data: question})
	waiting, cancel := context.WithTimeout(ctx, c.o.Silence)
	defer cancel()
	_ = c.await(waiting, func() bool { // ignore a timeout: a member that did not answer is left out
		return !slices.ContainsFunc(c.joinedMembers(), func(m *member) bool { return m.asked && !m.hasLeft })
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

// joinedMembers returns the other members that have joined. The caller holds the lock.
func (c *Coordinator) joinedMembers() []*member {
	var out []*member
	for _, m := range c.members {
		out = append(out, m)
	}
	return out
}

// errLate is the cause of a coordinator's wait that took too long.
var errLate = errors.New("too late")

// failWait converts a wait that took too long to an error of the load, and ends the load. The function why returns the names
// of the members that the coordinator waited for.
func (c *Coordinator) failWait(err error, why func() string) error {
	if !errors.Is(err, errLate) {
		return err
	}
	late := lostError("%s", why())
	c.giveUp(late)
	if first := c.Failed(); first != nil {
		return first
	}
	return late // Close was called meanwhile
}

// describeUnready describes the members because of which the load could not begin.
func (c *Coordinator) describeUnready() string {
	var parts []string
	if who := c.namesInStage(absent); who != "" {
		parts = append(parts, who+" did not connect to loader pod 0")
	}
	if who := c.namesInStage(joined); who != "" {
		parts = append(parts, who+" did not get ready for the load")
	}
	return strings.Join(parts, ", ")
}

// describeRefused lists the pods that were refused, with the reasons.
func (c *Coordinator) describeRefused() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.refused) == 0 {
		return ""
	}
	return "; " + strings.Join(c.refused, "; ")
}

// describeUnstarted describes the members that did not confirm the start of their load.
func (c *Coordinator) describeUnstarted() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var silent []int
	for index, m := range c.members {
		if !m.started {
			silent = append(silent, index)
		}
	}
	return fmt.Sprintf("%s did not confirm the start of the load within %s", c.namesAndHosts(silent), c.o.Silence)
}

// namesInStage returns the names of the other members in a stage; "" if there are none.
func (c *Coordinator) namesInStage(at stage) string {
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
	return c.namesAndHosts(out)
}

// namesAndHosts formats the indices of members and their hosts. The caller holds the lock.
func (c *Coordinator) namesAndHosts(indices []int) string {
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
	hosts = firstNames(hosts)
	if len(hosts) == 0 {
		return listNames(indices)
	}
	return listNames(indices) + " on " + strings.Join(hosts, ", ")
}

// maxHosts is the maximum number of hosts that a message names.
const maxHosts = 3

// firstNames sorts names and returns the first ones. If there are more, the last element is the number of the remaining
// names.
func firstNames(all []string) []string {
	slices.Sort(all)
	if len(all) <= maxHosts {
		return all
	}
	return append(all[:maxHosts:maxHosts], fmt.Sprintf("%d more", len(all)-maxHosts))
}
