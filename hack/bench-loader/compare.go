package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

// scenario is a server with one kind of documents.
type scenario struct {
	server    string
	documents corpus
	programs  []program
	time      time.Duration
	measure   func(ctx context.Context, p program, l job) (measured, error)
}

// measured holds the compared figures of one load.
type measured struct {
	docsPerSecond    float64
	cpuPerMillion    float64 // CPU seconds of the loader per million documents
	serverPerMillion float64 // CPU seconds of the server per million documents
}

// figures holds one value per load of a program in a scenario.
type figures struct {
	docsPerSecond, cpuPerMillion, serverPerMillion []float64
}

func (f *figures) add(m measured) {
	f.docsPerSecond = append(f.docsPerSecond, m.docsPerSecond)
	f.cpuPerMillion = append(f.cpuPerMillion, m.cpuPerMillion)
	f.serverPerMillion = append(f.serverPerMillion, m.serverPerMillion)
}

// result holds the figures of a scenario, by program name.
type result struct {
	scenario scenario
	figures  map[string]*figures
}

// alternate runs the programs of the scenario in turn, in a random order in each round.
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

// confidence is the confidence level of the intervals.
const confidence = 0.95

// docsRatio returns docs/s of one program over docs/s of another.
func (r result) docsRatio(over, under string) stats.Estimate {
	return stats.Compare(r.figures[over].docsPerSecond, r.figures[under].docsPerSecond, confidence)
}

// cpuRatio compares two programs by their CPU time per document. It returns the time of the program other, divided by
// the time of the program one.
func (r result) cpuRatio(one, other string) stats.Estimate {
	return stats.Compare(r.figures[other].cpuPerMillion, r.figures[one].cpuPerMillion, confidence)
}
