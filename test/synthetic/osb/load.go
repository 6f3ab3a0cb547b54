package osb

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// tally holds the requests of a task.
type tally struct {
	task     string
	began    time.Time
	took     time.Duration
	service  []float64 // service time of every request, ms
	failed   int64     // number of requests that failed, also in part
	answered int64     // number of documents in requests with an answer for each document
}

// reply is an answer of the API.
type reply struct {
	status int
	text   []byte
}

// createIndex creates the index with the settings of the workload. The run continues if OpenSearch refuses this.
func (r *run) createIndex() error {
	t := tally{task: "create-index", began: time.Now()}
	answer, err := r.request(http.MethodPut, "/"+Index, []byte(r.render(IndexBody)))
	if err != nil {
		return err
	}
	r.note(&t, time.Since(t.began), answer)
	r.logEnd(0, t.began)
	r.finish(t)
	return nil
}

// index starts all clients. Each sends its part of the corpus.
func (r *run) index() error {
	t := tally{task: "index", began: time.Now()}
	offset := int64(0)
	for c := range r.params.Clients {
		r.logf(c, "osbenchmark.workload.params", "Task-relative clients at index [%d-%d] will bulk index [%d] docs starting from line offset [%d] for [%s/None] from corpus [fake].",
			c, c, r.part(c), offset, Index)
		offset += r.part(c)
	}
	var clients sync.WaitGroup
	errs := make([]error, r.params.Clients)
	for c := range r.params.Clients {
		clients.Go(func() {
			errs[c] = r.client(&t, r.part(c))
			r.logEnd(c, t.began)
		})
	}
	clients.Wait()
	r.finish(t)
	return errors.Join(errs...)
}

// finish ends a task.
func (r *run) finish(t tally) {
	t.took = time.Since(t.began)
	r.tallies = append(r.tallies, t)
}

// part returns the number of documents that a client sends.
func (r *run) part(client int64) int64 {
	return r.corpus*(client+1)/r.params.Clients - r.corpus*client/r.params.Clients
}

// client sends one bulk after the other. It waits for each answer.
func (r *run) client(t *tally, documents int64) error {
	const line = "{\"index\":{}}\n{}\n"
	body := []byte(strings.Repeat(line, int(r.params.BulkSize)))
	hang := documents - r.hangAt
	for documents > 0 {
		if r.hangAt > 0 && documents <= hang {
			return r.hang()
		}
		if r.think > 0 {
			time.Sleep(r.think)
		}
		n := min(documents, r.params.BulkSize)
		documents -= n
		began := time.Now()
		answer, err := r.request(http.MethodPost, "/"+Index+"/_bulk", body[:int(n)*len(line)])
		if err != nil {
			return err
		}
		r.note(t, time.Since(began), answer)
		if answer.status < 300 {
			r.mu.Lock()
			t.answered += n
			r.mu.Unlock()
		}
	}
	return nil
}

// ProgressLine is the line that the program prints several times a second while a load runs.
const ProgressLine = "Running index                                                                  [ 50% done]"

// hang prints the progress line again and again, as the program does while it waits.
func (r *run) hang() error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		r.say("%s", ProgressLine)
		select {
		case <-r.ctx.Done():
			return r.ctx.Err()
		case <-tick.C:
		}
	}
}

// note records one request. A failed request also prints an error line.
func (r *run) note(t *tally, service time.Duration, answer reply) {
	failure := ""
	switch {
	case answer.status >= 300:
		failure = describeRefusal(answer)
	case strings.Contains(string(answer.text[:min(len(answer.text), 64)]), `"errors":true`):
		failure = describeItems(answer.text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.service = append(t.service, float64(service.Microseconds())/1000)
	if failure != "" {
		t.failed++
		fmt.Fprintln(r.output, "[ERROR] "+failure)
	}
}

// cause is an error of OpenSearch.
type cause struct{ Type, Reason string }

// describeRefusal describes a refused request in Python's format.
func describeRefusal(answer reply) string {
	var body struct{ Error cause }
	if json.Unmarshal(answer.text, &body) != nil || body.Error.Type == "" {
		return string(answer.text)
	}
	one := fmt.Sprintf("'type': '%s', 'reason': '%s'", body.Error.Type, body.Error.Reason)
	return fmt.Sprintf("%s ({'error': {'root_cause': [{%s}], %s}, 'status': %d})", body.Error.Type, one, one, answer.status)
}

// describeItems describes the different errors of the documents of a bulk request.
func describeItems(text []byte) string {
	var body struct {
		Items []map[string]struct {
			Status int
			Error  cause
		}
	}
	if err := json.Unmarshal(text, &body); err != nil {
		return err.Error()
	}
	out := ""
	for _, item := range body.Items {
		for _, result := range item {
			line := fmt.Sprintf("HTTP status: %d, message: %s", result.Status, result.Error.Reason)
			if result.Status >= 300 && !strings.Contains(out, line) {
				out += line
			}
		}
	}
	return out
}

// request sends a request. It returns an error only if there is no answer.
func (r *run) request(method, path string, body []byte) (reply, error) {
	req, err := http.NewRequestWithContext(r.ctx, method, r.url+path, strings.NewReader(string(body)))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	r.authenticate(req)
	resp, err := r.http.Do(req)
	if err != nil {
		r.say("[ERROR] Request returned an error. Error type: transport, Description: %v", err)
		return reply{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, data}, err
}
