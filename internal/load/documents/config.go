// Package documents generates or reads the documents of a load, and builds the bulk requests that send them.
package documents

import "github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"

// Config defines which documents a pod sends, and how they are divided into bulk requests.
type Config struct {
	Bulk       bulkconfig.Config
	DataStream bool // the bulk action is create, not index

	// Clients is the number of workers of all pods. This pod has the workers from FirstClient (counted from 0) to
	// FirstClient+Workers-1.
	Workers     int
	FirstClient int
	Clients     int

	Seed uint64 // seed for the random parts of a dataset
	Run  int    // number of the load, if several loads fill one index
}

// DefaultFlushBytes is the size of a bulk request if neither a size nor a number of documents is configured.
const DefaultFlushBytes = 3_000_000

// share returns the range of documents that belong to this pod. from is included and to is excluded. The numbers of documents
// of two workers differ by at most one.
func (c Config) share(documents int64) (from, to int64) {
	before := func(clients int) int64 {
		all := int64(c.Clients)
		return documents/all*int64(clients) + min(int64(clients), documents%all)
	}
	return before(c.FirstClient), before(c.FirstClient + c.Workers)
}

// ownsDocument reports whether a document belongs to this pod when documents are assigned round-robin to all workers.
func (c Config) ownsDocument(number int64) bool {
	client := int(number % int64(c.Clients))
	return client >= c.FirstClient && client < c.FirstClient+c.Workers
}

// flush returns the size at which a bulk request is full, in bytes or in documents. One of the two results is 0.
func (c Config) flush() (bytes int64, documents int) {
	switch {
	case c.Bulk.FlushDocuments > 0:
		return 0, int(c.Bulk.FlushDocuments)
	case c.Bulk.FlushBytes > 0:
		return c.Bulk.FlushBytes, 0
	}
	return DefaultFlushBytes, 0
}
