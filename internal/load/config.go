// Package load is Knee's own loader: it sends documents that were encoded before the load begins to the bulk API, over
// one connection a worker, and reads every item of every reply.
package load

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// Config says what to load, and where. It is also the JSON that a trial hands to `knee-agent load --config`.
type Config struct {
	URL      string           `json:"url"`                // http(s)://host:port, with a path before /INDEX/_bulk where a proxy wants one
	External *record.External `json:"external,omitempty"` // files of user, password and certificates; nil: the cluster is open

	Index      string `json:"index"`                // index or data stream that is written to
	DataStream bool   `json:"dataStream,omitempty"` // Index is a data stream: documents are created, not indexed

	Bulk    record.BulkConfig `json:"bulk"`
	Workers int               `json:"workers"` // connections of this process, each sending one bulk request at a time

	// Of several loader pods of one load, this one's workers are those from FirstClient (counted from 0) on of all Clients.
	// Documents are split among pods by their workers, and their unique ids never meet. 0 Clients: there is one pod.
	FirstClient int `json:"firstClient,omitempty"`
	Clients     int `json:"clients,omitempty"`

	Seed uint64 `json:"seed,omitempty"` // of what is random in a dataset; the same for all pods of a load
	Run  int    `json:"run,omitempty"`  // of several loads into one index: their unique ids never meet

	// Retries is how often the documents of one bulk request are sent again at most after 429 or 5xx; nil: DefaultRetries.
	Retries        *int  `json:"retries,omitempty"`
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"` // of one bulk request; 0: DefaultTimeout
}

// Defaults of a load.
const (
	DefaultFlushBytes = 3_000_000        // bytes of a bulk request when neither bytes nor documents are said
	DefaultRetries    = 8                // times; with the backoff between them about 20 s
	DefaultTimeout    = 60 * time.Second // of one bulk request
)

// maxWorkers and maxClients are bounds of sanity; the documents' numbers have room for as many pods.
const (
	maxWorkers = 1 << 12
	maxClients = 1 << 14
)

// clients is how many workers all pods have.
func (c Config) clients() int {
	if c.Clients == 0 {
		return c.Workers
	}
	return c.Clients
}

// share is which of so many documents are this pod's: from, to before to. Every worker of all pods has as many.
func (c Config) share(documents int64) (from, to int64) {
	before := func(clients int) int64 {
		all := int64(c.clients())
		return documents/all*int64(clients) + min(int64(clients), documents%all)
	}
	return before(c.FirstClient), before(c.FirstClient + c.Workers)
}

// own says whether a document is this pod's where they are dealt out to all workers in turn.
func (c Config) own(number int64) bool {
	client := int(number % int64(c.clients()))
	return client >= c.FirstClient && client < c.FirstClient+c.Workers
}

func (c Config) retries() int {
	if c.Retries == nil {
		return DefaultRetries
	}
	return *c.Retries
}

func (c Config) timeout() time.Duration {
	if c.TimeoutSeconds == 0 {
		return DefaultTimeout
	}
	return time.Duration(c.TimeoutSeconds) * time.Second
}

// flush is when a bulk request is full: from so many bytes on, or with so many documents; one of both is 0.
func (c Config) flush() (bytes int64, documents int) {
	switch {
	case c.Bulk.FlushDocuments > 0:
		return 0, int(c.Bulk.FlushDocuments)
	case c.Bulk.FlushBytes > 0:
		return c.Bulk.FlushBytes, 0
	}
	return DefaultFlushBytes, 0
}

// Validate says what is wrong with a Config, naming the field.
func (c Config) Validate() error {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("url %q is not that of a cluster, such as http://localhost:9200", c.URL)
	}
	if u.User != nil {
		return errors.New("url holds a user: name a folder with the files username and password instead")
	}
	b := c.Bulk
	switch {
	case c.Index == "":
		return errors.New("index is empty: name the index or data stream to write to")
	case c.Workers < 1 || c.Workers > maxWorkers:
		return fmt.Errorf("workers is %d: it must be 1 to %d", c.Workers, maxWorkers)
	case c.clients() > maxClients || c.FirstClient < 0 || c.FirstClient+c.Workers > c.clients():
		return fmt.Errorf("clients %d to %d of %d: there are 1 to %d, counted from 0", c.FirstClient, c.FirstClient+c.Workers-1, c.clients(), maxClients)
	case (b.Dataset == "") == (len(b.Files) == 0):
		return errors.New("either a dataset or files are needed")
	case b.Documents < 0 || b.DurationSeconds < 0 || b.FlushBytes < 0 || b.FlushDocuments < 0:
		return errors.New("documents, duration, flushBytes and flushDocuments cannot be below 0")
	case b.Documents > 0 && b.DurationSeconds > 0:
		return errors.New("documents and a duration both say when the load ends: leave one of them out")
	case b.FlushBytes > 0 && b.FlushDocuments > 0:
		return errors.New("flushBytes and flushDocuments both say when a bulk request is full: leave one of them out")
	case b.Dataset != "" && b.Documents == 0 && b.DurationSeconds == 0:
		return fmt.Errorf("dataset %s never ends: say how many documents, or how long", b.Dataset)
	case c.retries() < 0 || c.TimeoutSeconds < 0:
		return errors.New("retries and timeoutSeconds cannot be below 0")
	}
	return nil
}
