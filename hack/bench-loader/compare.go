package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/knee-bench/knee/internal/analysis"
)

// scenario is one server with one kind of documents.
type scenario struct {
	server    string
	documents corpus
	programs  []program
	time      time.Duration
	measure   func(ctx context.Context, p program, l job) (measured, error)
}

// measured is one load in the figures that are compared.
type measured struct {
	docsPerSecond    float64
	cpuPerMillion    float64 // CPU seconds of the loader per million documents
	serverPerMillion float64 // of what stands at the other end
}

// figures are the loads of one program in one scenario.
type figures struct {
	docsPerSecond, cpuPerMillion, serverPerMillion []float64
}

func (f *figures) add(m measured) {
	f.docsPerSecond = append(f.docsPerSecond, m.docsPerSecond)
	f.cpuPerMillion = append(f.cpuPerMillion, m.cpuPerMillion)
	f.serverPerMillion = append(f.serverPerMillion, m.serverPerMillion)
}

// result is a scenario's, by the program's name.
type result struct {
	scenario scenario
	figures  map[string]*figures
}

// alternate runs the scenario's programs in turn, in each round in another order.
func (s scenario) alternate(ctx context.Context, l job, rounds int, random *rand.Rand) (result, error) {
	out := result{s, map[string]*figures{}}
	for _, p := range s.programs {
		out.figures[p.name] = &figures{}
	}
	l.file, l.dataset, l.time = s.documents.file, s.documents.dataset, s.time
	for round := range rounds {
		fmt.Fprintf(os.Stderr, "%s, %s: round %d of %d\n", s.server, s.documents.name, round+1, rounds)
		for _, i := range random.Perm(len(s.programs)) {
			m, err := s.measure(ctx, s.programs[i], l)
			if err != nil {
				return out, fmt.Errorf("%s, %s: %w", s.server, s.documents.name, err)
			}
			out.figures[s.programs[i].name].add(m)
		}
	}
	return out, nil
}

// confidence of the intervals.
const confidence = 0.95

// docsRatio is a program's docs/s over another's.
func (r result) docsRatio(over, under string) analysis.Estimate {
	return analysis.Compare(r.figures[over].docsPerSecond, r.figures[under].docsPerSecond, confidence)
}

// cpuRatio is how many times the CPU of the one the other takes.
func (r result) cpuRatio(one, other string) analysis.Estimate {
	return analysis.Compare(r.figures[other].cpuPerMillion, r.figures[one].cpuPerMillion, confidence)
}
