package watch

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plugin/source"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/gates"
)

// points holds a campaign's records while the campaign is watched.
type points struct {
	seen  map[string]bool // names of ConfigMaps
	all   []record.Record // sorted by the time at which the attempt ended
	fresh []record.Record // records that arrived after the watch began and were not shown yet
	began bool
}

func newPoints() *points { return &points{seen: map[string]bool{}} }

// add adds a record, unless the record was added before.
func (p *points) add(cm *corev1.ConfigMap) {
	if p.seen[cm.Name] {
		return
	}
	p.seen[cm.Name] = true
	data, err := source.RecordJSON(cm)
	if err != nil || data == nil {
		return // the manager ignores this record, too
	}
	r, err := record.Decode(data)
	if err != nil {
		return
	}
	at, _ := slices.BinarySearchFunc(p.all, r, func(a, b record.Record) int { return cmp.Compare(a.EndTime(), b.EndTime()) })
	p.all = slices.Insert(p.all, at, r)
	if p.began {
		p.fresh = append(p.fresh, r)
	}
}

// latest returns the latest n records, newest first.
func (p *points) latest(n int) []record.Record {
	out := slices.Clone(p.all[max(len(p.all)-n, 0):])
	slices.Reverse(out)
	return out
}

// takeNew returns the records that were not shown yet.
func (p *points) takeNew() []record.Record {
	out := p.fresh
	p.fresh = nil
	return out
}

// attemptName names the attempt of a record in the same way as status.running.
func attemptName(a record.Attempt) string {
	s := fmt.Sprintf("%s %s %s clients=%d", a.Variant, a.Topology, a.Phase, a.Clients)
	if a.Phase == record.Final || a.Repetition > 1 {
		s += fmt.Sprintf(" repetition=%d", a.Repetition)
	}
	if a.Placement > 1 {
		s += fmt.Sprintf(" placement=%d", a.Placement)
	}
	if a.N > 1 {
		s += fmt.Sprintf(" attempt=%d", a.N)
	}
	return s
}

// describeResult describes the result of an attempt: the rate, the verdict, the reason why the attempt is not Measured, and
// gates that could not be evaluated.
func describeResult(r record.Record, spec v1alpha1.BenchmarkCampaignSpec) (rate, result string) {
	j := gates.JudgeFor(spec, r)
	rate, result = "-", string(j.Verdict)
	if j.Verdict != verdict.Errored {
		figure, _ := r.Rate()
		rate = terminal.FormatRounded(figure)
	}
	if notes := j.Notes(); len(notes) > 0 {
		result += ": " + notes[0].Message
	}
	return rate, result
}
