package loaders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/record"
)

// Pods represents the loader pods of a trial, including this pod.
type Pods interface {
	// Ready reports that this pod is ready to send. It returns when all pods are ready.
	Ready(ctx context.Context) error
	// Gather waits until every pod has ended its load. It returns the shares of all pods, in the order of the pods.
	Gather(ctx context.Context, load driver.Span, own json.RawMessage) ([]json.RawMessage, error)
	// Usage returns the resources that the other pods used in a part of the load. After this call, the other pods can end.
	Usage(ctx context.Context, load driver.Span, from, to time.Time) ([]record.Loader, error)
	// Close ends the other pods. If why is not nil, it reports to them that the load failed.
	Close(why error)
}

// OnePod implements Pods for a trial with a single loader pod.
type OnePod struct{}

// Ready implements Pods.
func (OnePod) Ready(ctx context.Context) error { return ctx.Err() }

// Gather implements Pods.
func (OnePod) Gather(_ context.Context, _ driver.Span, own json.RawMessage) ([]json.RawMessage, error) {
	return []json.RawMessage{own}, nil
}

// Usage implements Pods.
func (OnePod) Usage(context.Context, driver.Span, time.Time, time.Time) ([]record.Loader, error) {
	return nil, nil
}

// Close implements Pods.
func (OnePod) Close(error) {}

// SeveralPods implements Pods for the pod with index 0, which coordinates the other loader pods of its trial.
type SeveralPods struct {
	Coordinator *Coordinator
	Others      int                                       // number of pods in addition to this pod
	IsTimed     func(share json.RawMessage) (bool, error) // reports, from a share, whether the load lasts for a given time
	Say         func(format string, args ...any)
}

// Ready implements Pods.
func (p SeveralPods) Ready(ctx context.Context) error { return p.Coordinator.Start(ctx) }

// Gather implements Pods.
func (p SeveralPods) Gather(ctx context.Context, load driver.Span, own json.RawMessage) ([]json.RawMessage, error) {
	timed, err := p.IsTimed(own)
	if err != nil {
		return nil, err
	}
	shares, err := p.Coordinator.Shares(ctx, timed)
	if err != nil {
		return nil, err
	}
	out := []json.RawMessage{own}
	for _, s := range shares {
		p.Say("the load of %s ended %.1f s after the start", s.Name(), s.Ended.Sub(load.Began).Seconds())
		out = append(out, s.Data)
	}
	return out, nil
}

// usageQuestion asks a pod for its usage in a part of the load. From and To are seconds since the start of the load. All pods
// begin at the same time.
type usageQuestion struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// Usage implements Pods.
func (p SeveralPods) Usage(ctx context.Context, load driver.Span, from, to time.Time) ([]record.Loader, error) {
	question, err := json.Marshal(usageQuestion{from.Sub(load.Began).Seconds(), to.Sub(load.Began).Seconds()})
	if err != nil {
		return nil, err
	}
	answers := p.Coordinator.Ask(ctx, question)
	if len(answers) < p.Others {
		return nil, record.Errorf(record.ReasonLoaderLost, "loader pod 0 received no resource usage from %d of the %d other loader pods after the load: check whether these pods failed or were deleted", p.Others-len(answers), p.Others)
	}
	var out []record.Loader
	for _, s := range answers {
		var l record.Loader
		if err := json.Unmarshal(s.Data, &l); err != nil {
			return nil, fmt.Errorf("cannot read the resource usage of %s: %w", s.Name(), err)
		}
		out = append(out, l)
	}
	p.Coordinator.Close(nil)
	return out, nil
}

// Close implements Pods.
func (p SeveralPods) Close(why error) { p.Coordinator.Close(why) }

// AnswerUsage answers the question of SeveralPods.Usage. usage returns what this pod used between two times.
func AnswerUsage(question json.RawMessage, load driver.Span, usage func(from, to time.Time) record.Loader) (json.RawMessage, error) {
	var q usageQuestion
	if err := json.Unmarshal(question, &q); err != nil {
		return nil, fmt.Errorf("cannot decode the message with which loader pod 0 requests the resource usage of this pod: %w", err)
	}
	at := func(s float64) time.Time { return load.Began.Add(driver.Seconds(s)) }
	data, err := json.Marshal(usage(at(q.From), at(q.To)))
	if err != nil {
		return nil, fmt.Errorf("cannot encode the resource usage of this loader pod: %w", err)
	}
	return data, nil
}

// MemberPod implements Pods for a loader pod that is not the coordinator.
type MemberPod struct{ Member *Member }

// Ready implements Pods.
func (p MemberPod) Ready(ctx context.Context) error { return p.Member.Start(ctx) }

// Gather implements Pods. It returns an error, because only the coordinator gathers shares.
func (MemberPod) Gather(context.Context, driver.Span, json.RawMessage) ([]json.RawMessage, error) {
	return nil, errNotCoordinator
}

// Usage implements Pods. It returns an error, because only the coordinator gathers usage.
func (MemberPod) Usage(context.Context, driver.Span, time.Time, time.Time) ([]record.Loader, error) {
	return nil, errNotCoordinator
}

// Close implements Pods.
func (MemberPod) Close(error) {}

var errNotCoordinator = errors.New("only loader pod 0 can collect the results of the other loader pods")

// ListenAddress returns the address on which the coordinator listens: its port on every address of this pod.
func ListenAddress(coordinator string) (string, error) {
	_, port, err := net.SplitHostPort(coordinator)
	if err != nil {
		return "", fmt.Errorf("the trial's configuration has no valid address (host:port) of loader pod 0: %w", err)
	}
	return ":" + port, nil
}

// maxHostNames is the maximum number of hosts that a record names.
const maxHostNames = 3

// SumUsage adds the figures of the loader pods. It adds the CPU of all pods, and the processors of all machines, each machine
// once. The busiest process and the memory are the maximum over the pods.
func SumUsage(own record.Loader, others []record.Loader) record.Loader {
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
	if len(hosts) > maxHostNames {
		hosts = append(hosts[:maxHostNames], fmt.Sprintf("%d more", len(hosts)-maxHostNames))
	}
	out.Host = strings.Join(hosts, ", ")
	return out
}
