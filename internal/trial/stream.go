package trial

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
)

// streamDriver has OpenSearch make the load itself, by the Benchmark API of its stream transport.
type streamDriver struct {
	a      *attempt
	params driver.StreamParams
}

func newStream(a *attempt) loadDriver { return &streamDriver{a: a} }

func (*streamDriver) kind() kind { return usesCluster }

func (*streamDriver) about() record.Driver { return record.Driver{Name: "stream"} }

// fewestNodes is what a load between nodes needs.
const fewestNodes = 2

func (d *streamDriver) prepare(context.Context) (err error) {
	if d.params, err = driver.ParseStreamParams(d.a.Config.Stream.Params); err != nil {
		return fail(record.ReasonDriverFailed, "%v", err)
	}
	if nodes := d.a.Config.Nodes; nodes > 0 && nodes < fewestNodes {
		return tooFewNodes(int(nodes))
	}
	return nil
}

func tooFewNodes(nodes int) error {
	return fail(record.ReasonDriverFailed, "the Benchmark API measures the transport between nodes, and the cluster has %d node(s): spec.topologies[].nodes must be at least %d", nodes, fewestNodes)
}

// load calls the API, once: a call that got lost may have made its load all the same.
func (d *streamDriver) load(ctx context.Context, start func(context.Context) error) (json.RawMessage, error) {
	a := d.a
	if len(a.known) < fewestNodes {
		return nil, tooFewNodes(len(a.known))
	}
	if err := start(ctx); err != nil {
		return nil, err
	}
	a.say("POST %s %v", driver.StreamPath, a.Config.Stream.Params)
	calling, done := a.whileAnswering(ctx)
	reply, err := a.cluster.BenchmarkStream(calling, driver.StreamPath, a.Config.Stream.Params)
	done()
	var silent *failure
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && errors.As(context.Cause(calling), &silent):
		return nil, silent
	case cluster.NoHandler(err):
		return nil, fail(record.ReasonPluginMissing, "OpenSearch has no POST %s; it needs %s: %v", driver.StreamPath, driver.StreamNeeds, err)
	case cluster.ErrorType(err) == driver.NoStreamTransport:
		return nil, fail(record.ReasonPluginMissing, "%v; OpenSearch needs %s", err, driver.StreamNeeds)
	case cluster.ServerFailed(err): // the plugin stream-benchmark ends with the first request that fails
		return nil, fail(record.ReasonRequestsFailed, "the Benchmark API: %v", err)
	case err != nil:
		return nil, fail(record.ReasonDriverFailed, "the Benchmark API: %v", err)
	}
	if err := os.WriteFile(d.replyPath(), reply, 0o644); err != nil {
		return nil, err
	}
	return reply, nil
}

// outcome reads the reply. One pod calls the API: its clients are OpenSearch's own.
func (d *streamDriver) outcome(shares []json.RawMessage) (outcome, error) {
	if len(shares) != 1 {
		return outcome{}, fail(record.ReasonAgentFailed, "%d loader pods called the Benchmark API, whose clients are OpenSearch's own", len(shares))
	}
	reply, err := driver.ParseStreamReply(shares[0])
	if err != nil {
		return outcome{}, fail(record.ReasonDriverIncomplete, "%v", err)
	}
	switch err := reply.Check(d.params); {
	case errors.Is(err, driver.ErrStreamTransport):
		return outcome{}, fail(record.ReasonPluginMissing, "%v; it needs %s", err, driver.StreamNeeds)
	case errors.Is(err, driver.ErrStreamRequests):
		return outcome{}, fail(record.ReasonRequestsFailed, "%v", err)
	case err != nil:
		return outcome{}, fail(record.ReasonDriverIncomplete, "the Benchmark API's reply: %v", err)
	}
	return outcome{load: reply.Load(d.params)}, nil
}

func (d *streamDriver) replyPath() string { return filepath.Join(d.a.Work, "stream-reply.json") }

func (d *streamDriver) artifacts() []artifact {
	return []artifact{{"stream-reply.json", "the Benchmark API's reply", copyOf(d.replyPath())}}
}
