package main

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// points are a campaign's records as they come in.
type points struct {
	seen  map[string]bool // names of ConfigMaps
	all   []record.Record // by the time of their end
	fresh []record.Record // that came since the watch began and were not shown
	began bool
}

func newPoints() *points { return &points{seen: map[string]bool{}} }

// add takes a record in, once.
func (p *points) add(cm *corev1.ConfigMap) {
	if p.seen[cm.Name] {
		return
	}
	p.seen[cm.Name] = true
	data, err := recordJSON(cm)
	if err != nil || data == nil {
		return // the operator ignores it too
	}
	r, err := record.Decode(data)
	if err != nil {
		return
	}
	at, _ := slices.BinarySearchFunc(p.all, r, func(a, b record.Record) int { return int(a.FinishedAt - b.FinishedAt) })
	p.all = slices.Insert(p.all, at, r)
	if p.began {
		p.fresh = append(p.fresh, r)
	}
}

// last are the latest n, the latest first.
func (p *points) last(n int) []record.Record {
	out := slices.Clone(p.all[max(len(p.all)-n, 0):])
	slices.Reverse(out)
	return out
}

// take gives the records that were not shown yet.
func (p *points) take() []record.Record {
	out := p.fresh
	p.fresh = nil
	return out
}

// attemptName says which attempt a record is of, as status.running does.
func attemptName(t record.Trial) string {
	s := fmt.Sprintf("%s %s %s clients=%d", t.Variant, t.Topology, t.Phase, t.Clients)
	if t.Phase == record.Final || t.Repetition > 1 {
		s += fmt.Sprintf(" repetition=%d", t.Repetition)
	}
	if t.Placement > 1 {
		s += fmt.Sprintf(" placement=%d", t.Placement)
	}
	if t.Attempt > 1 {
		s += fmt.Sprintf(" attempt=%d", t.Attempt)
	}
	return s
}

// found says what an attempt gave: its rate and verdict, and why it is not Measured, or which gate nobody could evaluate.
func found(r record.Record, spec v1alpha1.BenchmarkCampaignSpec) (rate, verdict string) {
	j := analysis.JudgeFor(spec, r)
	rate, verdict = "-", string(j.Verdict)
	if j.Verdict != analysis.Errored {
		figure, _ := r.Rate()
		rate = whole(figure)
	}
	if notes := j.Notes(); len(notes) > 0 {
		verdict += ": " + notes[0].Message
	}
	return rate, verdict
}
