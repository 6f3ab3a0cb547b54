package load

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is what one load measured, of one process or, merged, of several. It holds sums and distributions only, so that
// results merge; shares and percentiles are made of them.
type Result struct {
	Processes int   `json:"processes"` // loaders whose results are in this one
	Workers   int   `json:"workers"`   // of all processes
	From      int64 `json:"from"`      // Unix ms: the first request begins
	To        int64 `json:"to"`        // Unix ms: the last reply has been read
	FirstEnd  int64 `json:"firstEnd"`  // Unix ms: the first worker has read its last reply; from then on fewer load the cluster

	Took float64 `json:"took,omitempty"` // seconds of one process's load, finer than From and To; 0 in a merged result

	Documents Documents `json:"documents"`
	Requests  int64     `json:"requests"`          // bulk requests that were answered, or sent in whole
	Bytes     int64     `json:"bytes"`             // of the bodies of those requests
	Refused   []Refusal `json:"refused,omitempty"` // what the server, or the way to it, said of documents that it did not take

	WaitSeconds   float64 `json:"waitSeconds"`   // spent in bulk requests, over all workers: from the first byte sent to the last one read, and for connections that broke
	WorkerSeconds float64 `json:"workerSeconds"` // that the workers worked, over all workers: From to To, pauses before a retry included
	CPUSeconds    float64 `json:"cpuSeconds"`    // of the processes, From to To, user and system
	Cores         int     `json:"cores"`         // that the processes may run on, over all processes

	Latency []byte `json:"latency"` // of one bulk request, every attempt counted: HdrHistogram in µs, V2 compressed

	Ended string `json:"ended,omitempty"` // why the load ended before its time; empty: it did not
}

// Documents are counted once each by what became of them in the end; Retried counts sendings.
type Documents struct {
	Added        int64 `json:"added"`        // sent at least once: the sum of the next four
	Acknowledged int64 `json:"acknowledged"` // their item has a status of 2xx
	Rejected     int64 `json:"rejected"`     // 429 to the end, of the item or of the whole request
	Failed       int64 `json:"failed"`       // any other status
	Uncertain    int64 `json:"uncertain"`    // sent in whole, but the reply did not come, was not whole or says nothing of them: they may be indexed
	Retried      int64 `json:"retried"`      // sent again after 429, 5xx or a connection that broke before they were sent in whole
}

// Refusal counts documents by why they were not taken, at each sending.
type Refusal struct {
	Status    int    `json:"status,omitempty"` // HTTP's, or the item's; 0: there was no answer
	Type      string `json:"type"`             // OpenSearch's name of the error, or what broke
	Reason    string `json:"reason,omitempty"` // of the first such document
	Documents int64  `json:"documents"`
}

// maxRefusals bounds how many kinds of refusals are told apart.
const maxRefusals = 16

// Seconds is how long the load took.
func (r Result) Seconds() float64 {
	if r.Took > 0 {
		return r.Took
	}
	return float64(r.To-r.From) / 1000
}

// DocsPerSecond is the rate of acknowledged documents.
func (r Result) DocsPerSecond() float64 { return r.per(float64(r.Documents.Acknowledged)) }

// AddedPerSecond is the rate of sent documents: what a client can do, where a server acknowledges nothing.
func (r Result) AddedPerSecond() float64 { return r.per(float64(r.Documents.Added)) }

// MiBs is the rate of bytes sent, retries included, in MiB/s.
func (r Result) MiBs() float64 { return r.per(float64(r.Bytes) / (1 << 20)) }

func (r Result) per(x float64) float64 {
	if r.Seconds() <= 0 {
		return 0
	}
	return x / r.Seconds()
}

// Waiting is U: the share of the workers' time that was spent in requests.
func (r Result) Waiting() float64 {
	if r.WorkerSeconds <= 0 {
		return 0
	}
	return min(1, r.WaitSeconds/r.WorkerSeconds)
}

// CPUPerMillion is the loader's CPU seconds per million documents sent.
func (r Result) CPUPerMillion() float64 {
	if r.Documents.Added == 0 {
		return 0
	}
	return r.CPUSeconds / float64(r.Documents.Added) * 1e6
}

// CPUShare is the share of the cores that the loader may use that it was busy on; near 1 it is the loader that limits.
func (r Result) CPUShare() float64 {
	if r.Cores == 0 {
		return 0
	}
	return r.per(r.CPUSeconds) / float64(r.Cores)
}

// Bounds of a latency's histogram, in µs, and its precision in digits.
const (
	latencyMin    = 1
	latencyMax    = int64(2 * time.Hour / time.Microsecond)
	latencyDigits = 3
)

func newLatency() *hdrhistogram.Histogram {
	return hdrhistogram.New(latencyMin, latencyMax, latencyDigits)
}

// Histogram is the latency's distribution, in µs.
func (r Result) Histogram() (*hdrhistogram.Histogram, error) {
	if len(r.Latency) == 0 {
		return newLatency(), nil
	}
	h, err := hdrhistogram.Decode(r.Latency)
	if err != nil {
		return nil, fmt.Errorf("the latency's histogram: %w", err)
	}
	return h, nil
}

// encodeLatency is the form in which histograms travel.
func encodeLatency(h *hdrhistogram.Histogram) ([]byte, error) {
	return h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
}

// Merge makes one result of those of all loaders of a load: counts and times are added, distributions merged, and the
// load lasts from the first one's begin to the last one's end, by clocks that must agree.
func Merge(results []Result) (Result, error) {
	if len(results) == 0 {
		return Result{}, errors.New("there is no result to merge")
	}
	if len(results) == 1 {
		_, err := results[0].Histogram()
		return results[0], err
	}
	out := Result{From: results[0].From, To: results[0].To, FirstEnd: results[0].FirstEnd}
	latency := newLatency()
	for _, r := range results {
		h, err := r.Histogram()
		if err != nil {
			return Result{}, err
		}
		if dropped := latency.Merge(h); dropped > 0 {
			return Result{}, fmt.Errorf("%d latencies are beyond what a histogram holds", dropped)
		}
		out.From, out.To, out.FirstEnd = min(out.From, r.From), max(out.To, r.To), min(out.FirstEnd, r.FirstEnd)
		out.Processes += r.Processes
		out.Workers += r.Workers
		out.Documents.add(r.Documents)
		out.Requests += r.Requests
		out.Bytes += r.Bytes
		out.WaitSeconds += r.WaitSeconds
		out.WorkerSeconds += r.WorkerSeconds
		out.CPUSeconds += r.CPUSeconds
		out.Cores += r.Cores
		for _, f := range r.Refused {
			out.Refused = count(out.Refused, f)
		}
		if out.Ended == "" {
			out.Ended = r.Ended
		}
	}
	sortRefusals(out.Refused)
	var err error
	out.Latency, err = encodeLatency(latency)
	return out, err
}

func (d *Documents) add(o Documents) {
	d.Added += o.Added
	d.Acknowledged += o.Acknowledged
	d.Rejected += o.Rejected
	d.Failed += o.Failed
	d.Uncertain += o.Uncertain
	d.Retried += o.Retried
}

// count adds a refusal to those of its kind. When there are too many kinds, the rest is one.
func count(all []Refusal, f Refusal) []Refusal {
	if f.Documents == 0 {
		return all
	}
	same := func(o Refusal) bool { return o.Status == f.Status && o.Type == f.Type }
	i := slices.IndexFunc(all, same)
	if i < 0 && len(all) >= maxRefusals {
		f = Refusal{Type: "other", Documents: f.Documents}
		i = slices.IndexFunc(all, same)
	}
	if i < 0 {
		return append(all, f)
	}
	all[i].Documents += f.Documents
	return all
}

func sortRefusals(all []Refusal) {
	slices.SortStableFunc(all, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Status, b.Status), cmp.Compare(a.Type, b.Type))
	})
}
