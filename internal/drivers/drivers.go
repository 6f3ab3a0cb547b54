// Package drivers contains the code that all drivers share on the manager's side. A driver makes the load of a trial. The
// code of each driver is in its own subfolder. Package managerside selects the driver of a campaign.
package drivers

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// Spec is the manager's side of one driver. It validates what the user sets, and it determines the configuration of a trial's
// pod and of its agent. All other parts of a pod are the same for every driver.
type Spec interface {
	// Describe describes the load generator, for the report.
	Describe() string
	// FillsIndex reports whether the load fills an index. The counters of the index then measure the load.
	FillsIndex() bool
	// Unit returns the unit of the load's throughput. The unit is docs/s if the load fills an index.
	Unit() string

	// Override applies the parameters and the image that a variant overrides.
	Override(v v1alpha1.Variant)
	// Params returns the parameters that a variant may override; nil if the driver has none.
	Params() map[string]v1alpha1.ParamValue
	// NeedsOpenSearch reports whether each variant must have an OpenSearch cluster.
	NeedsOpenSearch() bool
	// DefaultIndex returns the index that the load fills if the user names none; "" if it is not known.
	DefaultIndex() string
	// Files returns the source of the files that the load reads from record.WorkloadPath, and the field that sets the source.
	// The source is nil if the load reads no files.
	Files() (*v1alpha1.WorkloadSource, *field.Path)
	// Duration returns the duration of a load with a fixed duration. It returns false for any other load.
	Duration(warmup bool) (time.Duration, bool)
	// CallTime estimates how much time of a trial the driver needs in addition to its load. It returns 0 if the time is
	// negligible.
	CallTime() time.Duration
	// Documents returns how many documents a load sends. It returns false if the number is not known.
	Documents(warmup bool) (int64, bool)

	// Image returns the image of the trial's container.
	Image(i Images) string
	// HasAgent reports whether the image contains the agent. If not, the agent is copied into the container.
	HasAgent() bool
	// NodePorts returns the ports that the load uses between OpenSearch nodes, in addition to the transport port.
	NodePorts() []int32
	// Configure sets the name and the configuration of the driver in cfg. It may set ClientCheck. It may read Trial and
	// Index, which the caller has set.
	Configure(cfg *record.Config, campaign v1alpha1.BenchmarkCampaignSpec)

	// Validate returns errors in the driver's fields that the CRD cannot detect.
	Validate(c Campaign) field.ErrorList
}

// Images holds the images from the manager's flags.
type Images struct {
	OSB   string // repository of the opensearch-benchmark images; the tag is the version in the campaign
	Agent string // full reference of the image that contains the agent
}

// Campaign holds the facts about a campaign that Validate needs.
type Campaign struct {
	Spec       v1alpha1.BenchmarkCampaignSpec
	Clients    []int32                          // client counts of the sweep
	IsMeasured func(variant v1alpha1.Name) bool // reports whether the matrix has a cell for the variant
}

// Path returns the path of a field of spec.workload.
func Path(names ...string) *field.Path {
	return field.NewPath("spec", append([]string{"workload"}, names...)...)
}

// VariantParams returns the path of the params of the i-th variant.
func VariantParams(i int) *field.Path {
	return field.NewPath("spec", "variants").Index(i).Child("params")
}

// Texts converts parameters to the strings that the agent receives.
func Texts(in map[string]v1alpha1.ParamValue) map[string]string {
	out := map[string]string{}
	for k, v := range in {
		out[k] = string(v)
	}
	return out
}

// Merge returns the values of base and over. Values of over have priority. It returns nil if both are empty.
func Merge[V any](base, over map[string]V) map[string]V {
	var out map[string]V
	for _, values := range []map[string]V{base, over} {
		for k, v := range values {
			if out == nil {
				out = map[string]V{}
			}
			out[k] = v
		}
	}
	return out
}
