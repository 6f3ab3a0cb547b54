// Package spec implements the manager's side of the driver "stream". The agent of this driver calls the Benchmark API of
// OpenSearch's stream transport.
package spec

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
	"github.com/knee-bench/knee/internal/drivers/stream/streamconfig"
	"github.com/knee-bench/knee/internal/record"
)

const (
	// clientsParam is the query parameter of the Benchmark API for the number of clients.
	clientsParam = "parallel_requests"
	// streamPort is the first port that the stream transport (Arrow Flight) tries.
	streamPort = 9400
)

type stream struct{ *v1alpha1.Stream }

// New returns the driver, and whether the campaign sets the field stream.
func New(d v1alpha1.Drivers) (drivers.Spec, bool) { return stream{d.Stream}, d.Stream != nil }

func (stream) Describe() string { return "the Benchmark API of the stream transport" }

func (stream) FillsIndex() bool { return false }

func (stream) Unit() string { return "rows/s" }

func (s stream) Override(v v1alpha1.Variant) {
	s.Stream.Params = drivers.Merge(s.Stream.Params, v.Params)
}

func (s stream) Params() map[string]v1alpha1.ParamValue { return s.Stream.Params }

func (stream) NeedsOpenSearch() bool { return true }

func (stream) DefaultIndex() string { return "" }

func (stream) Files() (*v1alpha1.WorkloadSource, *field.Path) { return nil, nil }

func (stream) Duration(bool) (time.Duration, bool) { return 0, false }

func (stream) CallTime() time.Duration { return 0 }

func (stream) Documents(bool) (int64, bool) { return 0, false }

func (stream) Image(i drivers.Images) string { return i.Agent }

func (stream) HasAgent() bool { return true }

func (stream) NodePorts() []int32 { return []int32{streamPort} }

func (s stream) Configure(cfg *record.Config, _ v1alpha1.BenchmarkCampaignSpec) {
	params := drivers.Texts(s.Stream.Params)
	params[clientsParam] = strconv.Itoa(int(cfg.Attempt.Clients))
	cfg.Driver = record.NewDriverConfig(streamconfig.Name, streamconfig.Config{Params: params})
}

func (stream) Validate(drivers.Campaign) field.ErrorList { return nil }
