package steady

import (
	"fmt"
	"sort"
	"time"
)

// Sample is the number of documents that the cluster had accepted at one time.
type Sample struct {
	At    time.Time
	Count int64
}

// Window is a period of a load, with the number of documents that were accepted in it.
type Window struct {
	From, To  time.Time
	Documents float64
}

// Seconds returns the window's length.
func (w Window) Seconds() float64 { return w.To.Sub(w.From).Seconds() }

// Rate returns the accepted documents per second.
func (w Window) Rate() float64 {
	if s := w.Seconds(); s > 0 {
		return w.Documents / s
	}
	return 0
}

// Whole returns the window from the first to the last accepted document. Each end lies between two samples. Its time is
// computed from the rate of the neighbouring interval.
func Whole(samples []Sample) (Window, error) {
	first, last := -1, -1
	for i := 1; i < len(samples); i++ {
		if samples[i].Count > samples[i-1].Count {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return Window{}, fmt.Errorf("OpenSearch accepted no document")
	}
	w := Window{From: samples[first-1].At, To: samples[last].At,
		Documents: float64(samples[last].Count - samples[first-1].Count)}
	if last-first >= 2 {
		// Assume that the documents of the first interval arrived at the rate of the second interval. Assume that those of
		// the last interval arrived at the rate of the interval before it.
		if rate := between(samples[first], samples[first+1]); rate > 0 {
			at := samples[first].At.Add(-seconds(float64(samples[first].Count-samples[first-1].Count) / rate))
			w.From = later(w.From, at)
		}
		if rate := between(samples[last-2], samples[last-1]); rate > 0 {
			at := samples[last-1].At.Add(seconds(float64(samples[last].Count-samples[last-1].Count) / rate))
			w.To = earlier(w.To, at)
		}
	}
	if w.Seconds() <= 0 {
		return Window{}, fmt.Errorf("the load lasted less than one sampling interval: make the load longer")
	}
	return w, nil
}

// Steady returns a timed load without its warm-up and without its last second, because the clients do not end at exactly the
// same time. The length is a multiple of the refresh interval, if the index has one. So all windows of the same length
// contain the same number of refreshes.
func Steady(samples []Sample, refresh time.Duration) (Window, error) {
	whole, err := Whole(samples)
	if err != nil {
		return Window{}, err
	}
	n := int(whole.Seconds()) - 1
	if n < 1 {
		return Window{}, fmt.Errorf("the load of %.1f s is too short to find its steady part: increase the duration of the load", whole.Seconds())
	}
	counts := make([]float64, n+1)
	for i := range counts {
		counts[i] = countAt(samples, whole.From.Add(time.Duration(i)*time.Second))
	}
	rates := make([]float64, n)
	for i := range rates {
		rates[i] = counts[i+1] - counts[i]
	}
	cut, err := MSER5(rates)
	if err != nil {
		return Window{}, err
	}
	w := Window{From: whole.From.Add(time.Duration(cut) * time.Second), To: whole.From.Add(time.Duration(n) * time.Second)}
	if refresh > 0 {
		length := w.To.Sub(w.From).Truncate(refresh)
		if length < minBatches*batch*time.Second {
			return Window{}, fmt.Errorf("with a refresh interval of %s, Knee can measure only %.0f s of the %.0f s of steady load, but needs at least %d s: increase the duration of the load", refresh, length.Seconds(), w.Seconds(), minBatches*batch)
		}
		w.From = w.To.Add(-length)
	}
	return Part(samples, w.From, w.To), nil
}

// Corpus measures a full-corpus load between these shares of the corpus. The rate changes with the size of the index, so
// trials are comparable only over the same documents.
const (
	corpusFrom = 0.15
	corpusTo   = 0.95
)

// Corpus returns the window of a full-corpus load between two document counts that are the same in every trial. The window
// ends earlier if the first client ended earlier, because fewer clients load the cluster from then on. firstEnd is zero if
// this time is not known.
func Corpus(samples []Sample, corpus int64, firstEnd time.Time) (Window, error) {
	if _, err := Whole(samples); err != nil {
		return Window{}, err
	}
	base := samples[0].Count
	lower, upper := corpusFrom*float64(corpus), corpusTo*float64(corpus)
	from, ok := timeAt(samples, float64(base)+lower)
	to, ok2 := timeAt(samples, float64(base)+upper)
	if !ok || !ok2 {
		return Window{}, fmt.Errorf("OpenSearch accepted only %d of the %d documents of the corpus, but the measurement needs at least %.0f %%", samples[len(samples)-1].Count-base, corpus, 100*corpusTo)
	}
	w := Window{From: from, To: to, Documents: upper - lower}
	if !firstEnd.IsZero() && firstEnd.Before(to) {
		if !firstEnd.After(from) {
			return Window{}, fmt.Errorf("a client finished before OpenSearch accepted %.0f %% of the corpus", 100*corpusFrom)
		}
		w = Part(samples, from, firstEnd)
	}
	if w.Seconds() <= 0 {
		return Window{}, fmt.Errorf("the load lasted less than one sampling interval: make the load longer")
	}
	return w, nil
}

// Part returns the window between two times.
func Part(samples []Sample, from, to time.Time) Window {
	return Window{From: from, To: to, Documents: countAt(samples, to) - countAt(samples, from)}
}

// countAt interpolates the document count at a time.
func countAt(samples []Sample, t time.Time) float64 {
	i := sort.Search(len(samples), func(i int) bool { return !samples[i].At.Before(t) })
	switch {
	case i == 0:
		return float64(samples[0].Count)
	case i == len(samples):
		return float64(samples[i-1].Count)
	}
	a, b := samples[i-1], samples[i]
	return float64(a.Count) + between(a, b)*t.Sub(a.At).Seconds()
}

// timeAt interpolates the time at which a document count was reached.
func timeAt(samples []Sample, count float64) (time.Time, bool) {
	i := sort.Search(len(samples), func(i int) bool { return float64(samples[i].Count) >= count })
	if i == len(samples) {
		return time.Time{}, false
	}
	if i == 0 {
		return samples[0].At, true
	}
	a, b := samples[i-1], samples[i]
	return a.At.Add(seconds((count - float64(a.Count)) / between(a, b))), true
}

// between returns the rate between two samples, in documents per second.
func between(a, b Sample) float64 {
	if s := b.At.Sub(a.At).Seconds(); s > 0 {
		return float64(b.Count-a.Count) / s
	}
	return 0
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
