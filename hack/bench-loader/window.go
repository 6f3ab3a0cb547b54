package main

import (
	"context"
	"errors"
	"time"

	"github.com/knee-bench/knee/internal/agent/process"
)

// window holds the figures between the first and the last observed growth of the index.
type window struct {
	docsPerSecond float64
	cpuPerMillion float64 // CPU seconds of all client processes in the window, per million documents
	wholeCPU      float64 // CPU seconds of all client processes from start to end, per million documents of the load
	documents     int64
}

// sampleEvery is the interval of the samples, which is the precision of the window. The kernel counts CPU time in units
// of 10 ms.
const sampleEvery = 100 * time.Millisecond

// watcher samples the index and all child processes during a load.
type watcher struct {
	node   node
	usage  *process.Usage
	points []grown
	err    error
	stop   chan struct{}
	done   chan struct{}
}

// grown is the number of indexed documents at one time.
type grown struct {
	at        time.Time
	documents int64
}

func watch(ctx context.Context, n node) *watcher {
	w := &watcher{node: n, usage: process.NewUsage(), stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		for {
			w.sample(ctx)
			select {
			case <-w.stop:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return w
}

func (w *watcher) sample(ctx context.Context) {
	w.usage.Sample()
	documents, err := w.node.indexed(ctx)
	if err != nil {
		w.err = err
		return
	}
	w.points = append(w.points, grown{time.Now(), documents})
}

// end stops the sampling and returns the window.
func (w *watcher) end() (window, error) {
	close(w.stop)
	<-w.done
	if w.err != nil {
		return window{}, w.err
	}
	first, last := 0, 0
	for i, p := range w.points {
		if p.documents > 0 && first == 0 {
			first = i
		}
		if i > 0 && p.documents > w.points[i-1].documents {
			last = i
		}
	}
	if last <= first {
		return window{}, errors.New("the index did not grow")
	}
	from, to := w.points[first], w.points[last]
	million := float64(to.documents-from.documents) / 1e6
	cpu := 0.0
	for _, p := range w.usage.Between(from.at, to.at) {
		cpu += p.Percent / 100 * to.at.Sub(from.at).Seconds()
	}
	return window{
		docsPerSecond: million * 1e6 / to.at.Sub(from.at).Seconds(), cpuPerMillion: cpu / million,
		wholeCPU: w.usage.Total().Seconds() / (float64(to.documents) / 1e6), documents: to.documents,
	}, nil
}
