// Package stream implements the driver "stream". OpenSearch itself makes the load, through the Benchmark API of its stream
// transport.
package stream

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/drivers/stream/streamapi"
	"github.com/knee-bench/knee/internal/drivers/stream/streamconfig"
	"github.com/knee-bench/knee/internal/record"
)

// Driver lets OpenSearch itself make the load, through the Benchmark API of its stream transport.
type Driver struct {
	session *driver.Session
	config  streamconfig.Config
	params  streamapi.Params
}

// New makes a driver for one attempt.
func New(s *driver.Session, raw json.RawMessage) (driver.Driver, error) {
	config, err := driver.Decode[streamconfig.Config](streamconfig.Name, raw)
	if err != nil {
		return nil, err
	}
	return &Driver{session: s, config: config}, nil
}

// Kind implements driver.Driver.
func (*Driver) Kind() driver.Kind { return driver.UsesCluster }

// About implements driver.Driver.
func (*Driver) About() record.Driver { return record.Driver{Name: streamconfig.Name} }

// minNodes is the minimum number of nodes for a load between nodes.
const minNodes = 2

// Prepare implements driver.Driver.
func (d *Driver) Prepare(context.Context) (err error) {
	if d.params, err = streamapi.ParseParams(d.config.Params); err != nil {
		return record.Errorf(record.ReasonDriverFailed, "%v", err)
	}
	if nodes := d.session.Config.Nodes; nodes > 0 && nodes < minNodes {
		return tooFewNodes(int(nodes))
	}
	return nil
}

func tooFewNodes(nodes int) error {
	return record.Errorf(record.ReasonDriverFailed, "the Benchmark API measures the transport between OpenSearch nodes, but the cluster has only %d node(s): set spec.topologies[].nodes to at least %d", nodes, minNodes)
}

// Load calls the API once. It never retries, because a call without an answer may still have made its load.
func (d *Driver) Load(ctx context.Context, in driver.LoadInput) (json.RawMessage, error) {
	if len(in.Nodes) < minNodes {
		return nil, tooFewNodes(len(in.Nodes))
	}
	if _, err := in.Start(ctx); err != nil {
		return nil, err
	}
	d.session.Say("POST %s %v", streamapi.Path, d.config.Params)
	calling, done := d.cancelWhenSilent(ctx)
	reply, err := d.session.Cluster.BenchmarkStream(calling, streamapi.Path, d.config.Params)
	done()
	var silent *record.Error
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && errors.As(context.Cause(calling), &silent):
		return nil, silent
	case opensearch.NoHandler(err):
		return nil, record.Errorf(record.ReasonPluginMissing, "OpenSearch has no API POST %s; OpenSearch needs %s; the request failed: %v", streamapi.Path, streamapi.Needs, err)
	case opensearch.ErrorType(err) == streamapi.NoStreamTransport:
		return nil, record.Errorf(record.ReasonPluginMissing, "%v; OpenSearch needs %s", err, streamapi.Needs)
	case opensearch.ServerFailed(err): // the plugin stream-benchmark stops at the first failed request
		return nil, record.Errorf(record.ReasonRequestsFailed, "the Benchmark API reported a failure: %v", err)
	case err != nil:
		return nil, record.Errorf(record.ReasonDriverFailed, "the call of the Benchmark API failed: %v", err)
	}
	if err := os.WriteFile(d.replyPath(), reply, 0o644); err != nil {
		return nil, err
	}
	return reply, nil
}

// Outcome parses the reply. There must be only one share: only one pod calls the API, because the API has its own clients.
func (d *Driver) Outcome(shares []json.RawMessage) (driver.Outcome, error) {
	if len(shares) != 1 {
		return driver.Outcome{}, record.Errorf(record.ReasonAgentFailed, "%d loader pods called the Benchmark API, but exactly 1 pod must call it, because OpenSearch itself runs the clients", len(shares))
	}
	reply, err := streamapi.ParseReply(shares[0])
	if err != nil {
		return driver.Outcome{}, record.Errorf(record.ReasonDriverIncomplete, "%v", err)
	}
	switch err := reply.Check(d.params); {
	case errors.Is(err, streamapi.ErrTransport):
		return driver.Outcome{}, record.Errorf(record.ReasonPluginMissing, "%v; OpenSearch needs %s", err, streamapi.Needs)
	case errors.Is(err, streamapi.ErrRequests):
		return driver.Outcome{}, record.Errorf(record.ReasonRequestsFailed, "%v", err)
	case err != nil:
		return driver.Outcome{}, record.Errorf(record.ReasonDriverIncomplete, "Knee cannot use the reply of the Benchmark API: %v", err)
	}
	return driver.Outcome{Load: reply.Load(d.params)}, nil
}

func (d *Driver) replyPath() string { return filepath.Join(d.session.Dirs.Work, "stream-reply.json") }

// Artifacts implements driver.Driver.
func (d *Driver) Artifacts() []driver.Artifact {
	return []driver.Artifact{{Name: "stream-reply.json", About: "the Benchmark API's reply", Write: d.session.CopyOf(d.replyPath())}}
}
