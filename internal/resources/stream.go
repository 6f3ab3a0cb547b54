package resources

import (
	"strconv"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// clientsOfStream is the Benchmark API's query parameter that takes the clients.
const clientsOfStream = "parallel_requests"

// streamDriver is the Benchmark API of OpenSearch's stream transport, which the agent calls.
type streamDriver struct{ *v1alpha1.Stream }

func (streamDriver) image(o Options) string { return o.AgentImage }

func (streamDriver) hasAgent() bool { return true }

func (streamDriver) from() (*v1alpha1.WorkloadSource, string) { return nil, "" }

func (d streamDriver) configure(cfg *record.Config, _ v1alpha1.BenchmarkCampaignSpec) {
	params := texts(d.Params)
	params[clientsOfStream] = strconv.Itoa(int(cfg.Trial.Clients))
	cfg.Stream = &record.StreamConfig{Params: params}
}
