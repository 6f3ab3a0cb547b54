package main

import (
	"context"
	"errors"
	"time"

	"github.com/knee-bench/knee/internal/trial/process"
)

// window is what was measured between the first and the last moment at which the index was seen to grow.
type window struct {
	docsPerSecond float64
	cpuPerMillion float64 // CPU seconds of all processes of the client, in the window
	wholeCPU      float64 // of all processes of the client, from their start to their end, per million documents of the load
	documents     int64
}

// sampleEvery is how often the watcher looks: the window is known to that, and the kernel counts CPU time to 10 ms.
const sampleEvery = 100 * time.Millisecond

// watcher looks at the index and at all processes below this one while a load runs.
type watcher struct {
	node   node
	usage  *process.Usage
	points []grown
	err    error
	stop   chan struct{}
	done   chan struct{}
}

// grown is how many documents had been indexed at a time.
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

// end stops looking and gives the window.
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
		return window{}, errors.New("the index was not seen to grow")
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
