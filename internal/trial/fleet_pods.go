package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/fleet"
)

// severalPods are the loader pods of a trial as the one of index 0, which coordinates them, sees them.
type severalPods struct {
	a *attempt
	c *fleet.Coordinator
}

// assemble waits for the trial's other loader pods, where there are others, and begins to coordinate them. The context that
// it gives ends when one of them is lost or fails.
func (a *attempt) assemble(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if a.part.of <= 1 {
		return ctx, func() {}, nil
	}
	address, err := listenAddress(a.Config.Coordinator)
	if err != nil {
		return ctx, func() {}, err
	}
	c, err := fleet.Listen(ctx, address, a.fleetOptions())
	if err != nil {
		return ctx, func() {}, err
	}
	a.pods = severalPods{a, c}
	ctx, cancel := c.Context(ctx)
	a.say("wait for the other loader pods")
	return ctx, cancel, inWords(c.Assemble(ctx))
}

// listenAddress is the port of where the coordinator is reached, on every address of this pod.
func listenAddress(coordinator string) (string, error) {
	_, port, err := net.SplitHostPort(coordinator)
	if err != nil {
		return "", fmt.Errorf("a trial of several loader pods needs the coordinator's host:port in its configuration: %w", err)
	}
	return ":" + port, nil
}

func (a *attempt) fleetOptions() fleet.Options {
	say := func(format string, args ...any) { a.print(fmt.Sprintf(format, args...)) }
	return fleet.Options{Trial: a.Config.Trial, Loaders: int(a.part.of), Host: a.record.Loader.Host, Say: say, Ready: a.readyWithin()}
}

// readyWithin is how long the loader pods wait for one that is not there or not ready.
func (a *attempt) readyWithin() time.Duration {
	return cmp.Or(time.Duration(a.Config.LoadersReadySeconds)*time.Second, fleet.DefaultReady)
}

func (p severalPods) ready(ctx context.Context) error { return inWords(p.c.Start(ctx)) }

// gather waits for the others' shares. Whether the load was timed, the driver alone can tell.
func (p severalPods) gather(ctx context.Context, own json.RawMessage) ([]json.RawMessage, error) {
	o, err := p.a.driver.outcome([]json.RawMessage{own})
	if err != nil {
		return nil, err
	}
	shares, err := p.c.Shares(ctx, o.timed)
	if err != nil {
		return nil, inWords(err)
	}
	out := []json.RawMessage{own}
	for _, s := range shares {
		p.a.say("%s ended %.1f s after the start", s.Name(), s.Ended.Sub(p.a.clock.at).Seconds())
		out = append(out, s.Data)
	}
	return out, nil
}

// stretch is a part of the load, in seconds since its start: of every pod, for they began together.
type stretch struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// loaders asks the others what their load took of their machines, and lets them go.
func (p severalPods) loaders(ctx context.Context, from, to time.Time) ([]record.Loader, error) {
	began := p.a.clock.at
	question, err := json.Marshal(stretch{from.Sub(began).Seconds(), to.Sub(began).Seconds()})
	if err != nil {
		return nil, err
	}
	answers := p.c.Ask(ctx, question)
	if want := int(p.a.part.of) - 1; len(answers) < want {
		return nil, fail(record.ReasonLoaderLost, "%d of %d other loader pods did not tell what the load took of their CPU: they were lost when it had ended", want-len(answers), want)
	}
	var out []record.Loader
	for _, s := range answers {
		var l record.Loader
		if err := json.Unmarshal(s.Data, &l); err != nil {
			return nil, fmt.Errorf("what the load took of %s: %w", s.Name(), err)
		}
		out = append(out, l)
	}
	p.c.Close(nil)
	return out, nil
}

func (p severalPods) close(why error) { p.c.Close(why) }

// maxHosts is how many hosts a record names.
const maxHosts = 3

// together makes one of the loader pods' figures: their CPU is added, and so are the processors of their machines, each
// machine once; of what is the highest of one pod, the highest of all is.
func together(own record.Loader, others []record.Loader) record.Loader {
	out := own
	hosts := []string{own.Host}
	for _, l := range others {
		out.CPUCores += l.CPUCores
		if l.BusiestPercent > out.BusiestPercent {
			out.BusiestPercent, out.BusiestProcess = l.BusiestPercent, l.BusiestProcess
		}
		out.MemoryBytes = max(out.MemoryBytes, l.MemoryBytes)
		if l.Host == "" || !slices.Contains(hosts, l.Host) {
			hosts = append(hosts, l.Host)
			out.Cores += l.Cores
		}
	}
	hosts = slices.DeleteFunc(hosts, func(h string) bool { return h == "" })
	slices.Sort(hosts)
	if len(hosts) > maxHosts {
		hosts = append(hosts[:maxHosts], fmt.Sprintf("%d more", len(hosts)-maxHosts))
	}
	out.Host = strings.Join(hosts, ", ")
	return out
}

// inWords gives the failure of several pods as one of an attempt.
func inWords(err error) error {
	var f *fleet.Failure
	if errors.As(err, &f) {
		return &failure{f.Reason, f.Message}
	}
	return err
}
