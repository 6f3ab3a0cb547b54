// Package driver defines the contract between a trial and the drivers that make its load.
package driver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/record"
)

// Driver makes the load of one attempt with opensearch-benchmark, Knee's own loader, the Benchmark API, or any program. A
// trial calls the methods one after the other, in the order of this interface. A driver starts programs only through
// Session.Run, which applies the trial's deadline, accounts for the processes and ends them. docs/drivers.md describes how to
// add a driver.
type Driver interface {
	// Kind returns how the load is measured. It is called before Prepare.
	Kind() Kind

	// Prepare finds the program and creates its files. At this time the trial has made no request to the cluster.
	Prepare(ctx context.Context) error

	// Load makes this pod's part of the load and returns the pod's share of the outcome. It prepares, calls in.Start, and
	// then sends. All times in a share are seconds since the span began, because every pod has its own clock. When Load
	// returns, no process of the driver runs.
	Load(ctx context.Context, in LoadInput) (share json.RawMessage, err error)

	// Outcome merges the shares of all loader pods. The shares are in the order of the pods. A trial with one pod has one
	// share.
	Outcome(shares []json.RawMessage) (Outcome, error)

	// About returns the known facts about the program, even if its load failed.
	About() record.Driver

	// Artifacts lists the raw files of the driver, in the order in which the trial saves them.
	Artifacts() []Artifact
}

// LoadInput holds the facts about the cluster that a load needs, and the function that starts the load.
type LoadInput struct {
	Nodes    []opensearch.NodeInfo // the nodes that the trial found; nil without a cluster
	Activity process.Activity      // counters of the cluster that show whether the load makes progress

	// Start returns when every loader pod is ready to send. A driver must send nothing before. If Start returns an error, the
	// load ends.
	Start func(context.Context) (Span, error)
}

// Kind describes how a driver's load is measured.
type Kind int

// Values of Kind.
const (
	FillsIndex  Kind = iota // the cluster's counters measure the load; the trial observes the nodes and the index
	UsesCluster             // the driver's own figures measure the load; the trial observes the cluster's nodes, but creates no index
	NoCluster               // the driver's own figures measure the load; there is no cluster to observe
)

// IndexProvider is a driver of kind FillsIndex that has its own index body. The body is used if the campaign gives none. If
// IndexBody returns no body, the load of the driver creates the index.
type IndexProvider interface {
	IndexBody() (body []byte, from string, err error) // from names the source of the body in error messages
}

// MetricsReader is a driver that reads figures of the system under test from another source after the load. A figure that
// cannot be read has a note instead of a value. A missing figure never makes the attempt invalid.
type MetricsReader interface {
	ReadMetrics(ctx context.Context, load Span) []record.Metric
}

// Searcher is a driver that can search the index that its load filled.
type Searcher interface {
	HasSearch() bool                                   // reports whether the campaign has search tasks
	Search(ctx context.Context) ([]record.Task, error) // returns the figures of the tasks; also returns figures with an error
}

// FilesDigester is a driver that reads mounted files, such as a workload.
type FilesDigester interface {
	FilesDigest() (string, error) // returns a digest that identifies the files; empty if no files are mounted
}

// CommitReader is a driver whose workload may come from a git repository.
type CommitReader interface {
	Commit() string // returns the commit; empty if the commit is not known
}

// Repeater is a driver whose load can be repeated with Knee's own loader.
type Repeater interface {
	// AsBulk converts the load that was made to a configuration of the driver "bulk". An error of AsBulk explains why only
	// this driver can make the load. It is recorded as a note.
	AsBulk(made Outcome, lasted time.Duration) (record.DriverConfig, error)
}

// Factory makes drivers of one name.
type Factory struct {
	Name string // the name in record.DriverConfig
	// New makes a driver for one attempt. config is the JSON that the manager wrote for this driver; see Decode.
	New func(s *Session, config json.RawMessage) (Driver, error)
}

// NewDriver makes the driver that the session's configuration names.
func NewDriver(factories []Factory, s *Session) (Driver, error) {
	config := s.Config.Driver
	var names []string
	for _, f := range factories {
		if f.Name == config.Name {
			return f.New(s, config.Config)
		}
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("the trial requires the driver %q, but this agent has only the drivers %s: set the manager's flag --agent-image to an image of the manager's own version",
		config.Name, strings.Join(names, ", "))
}

// Decode decodes the JSON configuration of a driver into the configuration type of that driver.
func Decode[C any](name string, config json.RawMessage) (C, error) {
	var out C
	if err := json.Unmarshal(config, &out); err != nil {
		return out, fmt.Errorf("cannot decode the configuration of driver %s: %w", name, err)
	}
	return out, nil
}
