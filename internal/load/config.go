// Package load implements Knee's own loader. It encodes documents before the load and sends them to the bulk API. Each worker
// has its own connection. The loader reads every item of every reply.
package load

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"
	"github.com/knee-bench/knee/internal/load/documents"
	"github.com/knee-bench/knee/internal/record"
)

// Config describes a load and its target. It is also the JSON that a trial passes to `knee-agent load --config`.
type Config struct {
	URL      string           `json:"url"`                // http(s)://host:port, followed by a path if a proxy needs one; /INDEX/_bulk is appended
	External *record.External `json:"external,omitempty"` // paths of the files with user, password and certificates; nil: the cluster has no security

	Index      string `json:"index"`                // index or data stream that the load fills
	DataStream bool   `json:"dataStream,omitempty"` // Index is a data stream: the bulk action is create, not index

	Bulk    bulkconfig.Config `json:"bulk"`
	Workers int               `json:"workers"` // number of connections of this process; each sends one bulk request at a time

	// For a load with several pods: Clients is the number of workers of all pods, and FirstClient is the number of this pod's
	// first worker, from 0. The documents are divided among the workers of all pods. Two pods never use the same unique ID.
	// Clients is 0 if there is only one pod.
	FirstClient int `json:"firstClient,omitempty"`
	Clients     int `json:"clients,omitempty"`

	Seed uint64 `json:"seed,omitempty"` // seed for the random parts of a dataset; the same for all pods of a load
	Run  int    `json:"run,omitempty"`  // number of the load, if several loads fill one index; each load uses other unique IDs

	// Retries is the maximum number of times that documents are sent again after status 429 or 5xx; nil: DefaultRetries.
	Retries        *int  `json:"retries,omitempty"`
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"` // time limit of one bulk request; 0: DefaultTimeout
}

// Defaults of a load.
const (
	DefaultRetries = 8                // number of retries; the pauses between them take about 20 s in total
	DefaultTimeout = 60 * time.Second // of one bulk request
)

// maxWorkers and maxClients are plausibility limits. newClaims can number the documents of maxClients workers.
const (
	maxWorkers = 1 << 12
	maxClients = 1 << 14
)

// clients returns the number of workers of all pods.
func (c Config) clients() int {
	if c.Clients == 0 {
		return c.Workers
	}
	return c.Clients
}

// documents returns the configuration of the documents that this pod sends.
func (c Config) documents() documents.Config {
	return documents.Config{
		Bulk: c.Bulk, DataStream: c.DataStream, Workers: c.Workers, FirstClient: c.FirstClient, Clients: c.clients(), Seed: c.Seed, Run: c.Run,
	}
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

// Validate returns an error that names the first invalid field.
func (c Config) Validate() error {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("url %q is not an http or https URL: use the form http://localhost:9200", c.URL)
	}
	if u.User != nil {
		return errors.New("url contains a user name: write the user name and password into the files username and password in the credentials folder (--credentials-dir) instead")
	}
	b := c.Bulk
	switch {
	case c.Index == "":
		return errors.New("index is not set: name the index or data stream to write to")
	case c.Workers < 1 || c.Workers > maxWorkers:
		return fmt.Errorf("workers is %d: the value must be from 1 to %d", c.Workers, maxWorkers)
	case c.clients() > maxClients || c.FirstClient < 0 || c.FirstClient+c.Workers > c.clients():
		return fmt.Errorf("the clients %d to %d (counted from 0) are not possible in a load with %d clients, which may have at most %d: correct firstClient, workers or clients", c.FirstClient, c.FirstClient+c.Workers-1, c.clients(), maxClients)
	case (b.Dataset == "") == (len(b.Files) == 0):
		return errors.New("dataset and files are both set or both empty: set exactly one of them")
	case b.Documents < 0 || b.DurationSeconds < 0 || b.FlushBytes < 0 || b.FlushDocuments < 0:
		return errors.New("documents, duration, flushBytes and flushDocuments cannot be below 0")
	case b.Documents > 0 && b.DurationSeconds > 0:
		return errors.New("the number of documents and the duration both say when the load ends: leave one of them out")
	case b.FlushBytes > 0 && b.FlushDocuments > 0:
		return errors.New("flushBytes and flushDocuments both say when a bulk request is full: leave one of them out")
	case b.Dataset != "" && b.Documents == 0 && b.DurationSeconds == 0:
		return fmt.Errorf("dataset %s has no end: set the number of documents to send, or the duration of the load", b.Dataset)
	case c.retries() < 0 || c.TimeoutSeconds < 0:
		return errors.New("retries and timeoutSeconds cannot be below 0")
	}
	return nil
}
