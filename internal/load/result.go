package load

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result holds the figures of a load, from one process, or merged from several processes. It holds only sums and
// distributions, so results can be merged. Shares and percentiles are computed from them.
type Result struct {
	Processes int   `json:"processes"` // number of loader processes in this result
	Workers   int   `json:"workers"`   // number of workers in all processes
	From      int64 `json:"from"`      // Unix ms: start of the first request
	To        int64 `json:"to"`        // Unix ms: the last reply was read
	FirstEnd  int64 `json:"firstEnd"`  // Unix ms: the first worker had read its last reply; from then on fewer workers load the cluster

	Took float64 `json:"took,omitempty"` // duration in seconds of the load of one process, more exact than From and To; 0 in a merged result

	Documents Documents `json:"documents"`
	Requests  int64     `json:"requests"`          // bulk requests that were answered or completely sent
	Bytes     int64     `json:"bytes"`             // bytes of the bodies of these requests
	Refused   []Refusal `json:"refused,omitempty"` // why the server or the network did not accept documents

	WaitSeconds   float64 `json:"waitSeconds"`   // time in bulk requests, summed over all workers: from the first byte sent to the last byte read; includes opening connections and failed requests
	WorkerSeconds float64 `json:"workerSeconds"` // time from the start of the load to the end of each worker, summed over all workers; includes pauses before retries
	CPUSeconds    float64 `json:"cpuSeconds"`    // user and system CPU time of the processes during the load
	Cores         int     `json:"cores"`         // number of cores that the processes may use, summed over all processes

	Latency []byte `json:"latency"` // HdrHistogram (V2, compressed) of the time of bulk requests in µs; retries count as requests

	Ended string `json:"ended,omitempty"` // why the load ended early; empty: it did not end early
}

// Documents counts each document once, by its final result. Exception: Retried counts every time that a document was sent
// again.
type Documents struct {
	Added        int64 `json:"added"`        // sent at least once; the sum of the next four fields
	Acknowledged int64 `json:"acknowledged"` // the item has a status of 2xx
	Rejected     int64 `json:"rejected"`     // refused with status 429 in every attempt, for the item or for the whole request
	Failed       int64 `json:"failed"`       // any other status, or never sent completely
	Uncertain    int64 `json:"uncertain"`    // completely sent, but the reply was missing or incomplete, or does not mention the document: it may be indexed
	Retried      int64 `json:"retried"`      // sent again after status 429 or 5xx, or after a connection failed before the request was completely sent
}

// Refusal counts documents that were not accepted, by reason. It counts a document in every attempt.
type Refusal struct {
	Status    int    `json:"status,omitempty"` // status of the HTTP reply or of the item; 0: there was no answer
	Type      string `json:"type"`             // error type from OpenSearch, or the name of the part that failed
	Reason    string `json:"reason,omitempty"` // reason of the first of these documents
	Documents int64  `json:"documents"`
}

// maxRefusals is the maximum number of kinds of refusals that are counted separately.
const maxRefusals = 16

// Seconds returns the duration of the load.
func (r Result) Seconds() float64 {
	if r.Took > 0 {
		return r.Took
	}
	return float64(r.To-r.From) / 1000
}

// DocsPerSecond returns the rate of acknowledged documents.
func (r Result) DocsPerSecond() float64 { return r.per(float64(r.Documents.Acknowledged)) }

// AddedPerSecond returns the rate of sent documents. If the server acknowledges no documents, this rate shows the limit of
// the client.
func (r Result) AddedPerSecond() float64 { return r.per(float64(r.Documents.Added)) }

// MiBs returns the rate of sent bytes in MiB/s, including retries.
func (r Result) MiBs() float64 { return r.per(float64(r.Bytes) / (1 << 20)) }

func (r Result) per(x float64) float64 {
	if r.Seconds() <= 0 {
		return 0
	}
	return x / r.Seconds()
}

// Waiting returns the share of the workers' time that was spent in requests, 0 to 1.
func (r Result) Waiting() float64 {
	if r.WorkerSeconds <= 0 {
		return 0
	}
	return min(1, r.WaitSeconds/r.WorkerSeconds)
}

// CPUPerMillion returns the loader's CPU seconds per million documents sent.
func (r Result) CPUPerMillion() float64 {
	if r.Documents.Added == 0 {
		return 0
	}
	return r.CPUSeconds / float64(r.Documents.Added) * 1e6
}

// CPUShare returns the CPU time of the loader as a share of its cores. If the share is near 1, the loader limits the load.
func (r Result) CPUShare() float64 {
	if r.Cores == 0 {
		return 0
	}
	return r.per(r.CPUSeconds) / float64(r.Cores)
}

// Limits of the latency histogram in µs, and its precision in decimal digits.
const (
	latencyMin    = 1
	latencyMax    = int64(2 * time.Hour / time.Microsecond)
	latencyDigits = 3
)

func newLatency() *hdrhistogram.Histogram {
	return hdrhistogram.New(latencyMin, latencyMax, latencyDigits)
}

// Histogram returns the distribution of the latency, in µs.
func (r Result) Histogram() (*hdrhistogram.Histogram, error) {
	if len(r.Latency) == 0 {
		return newLatency(), nil
	}
	h, err := hdrhistogram.Decode(r.Latency)
	if err != nil {
		return nil, fmt.Errorf("cannot decode the latency histogram: %w", err)
	}
	return h, nil
}

// encodeLatency encodes a histogram for Result.Latency.
func encodeLatency(h *hdrhistogram.Histogram) ([]byte, error) {
	return h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
}

// Merge merges the results of all loader processes of a load. It adds counts and times, and merges distributions. The load
// lasts from the first start to the last end. So the times in the results must have the same origin.
func Merge(results []Result) (Result, error) {
	if len(results) == 0 {
		return Result{}, errors.New("no loader process returned a result")
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
			return Result{}, fmt.Errorf("cannot merge the latency histograms: %d latencies are outside the range of a histogram (1 µs to 2 h)", dropped)
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

// count adds a refusal to the refusals of the same kind. If there are too many kinds, additional kinds are counted together
// as "other".
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
