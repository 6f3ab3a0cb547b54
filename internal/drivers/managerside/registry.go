// Package managerside lists the drivers for the manager. Package agentside lists the drivers for the agent.
package managerside

import (
	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
	bulk "github.com/knee-bench/knee/internal/drivers/bulk/spec"
	command "github.com/knee-bench/knee/internal/drivers/command/spec"
	osb "github.com/knee-bench/knee/internal/drivers/osb/spec"
	stream "github.com/knee-bench/knee/internal/drivers/stream/spec"
)

// registry lists the constructors of all drivers. A constructor returns false if the campaign does not use its driver.
var registry = []func(v1alpha1.Drivers) (drivers.Spec, bool){
	osb.New,
	bulk.New,
	stream.New,
	command.New,
}

// Of returns the driver that a campaign sets. The API server accepts only campaigns with exactly one driver. If there is
// none, Of returns an empty osb driver whose description is "not known".
func Of(d v1alpha1.Drivers) drivers.Spec {
	for _, find := range registry {
		if spec, ok := find(d); ok {
			return spec
		}
	}
	none, _ := osb.New(v1alpha1.Drivers{OSB: &v1alpha1.OSB{}})
	return unknown{none}
}

// unknown is the driver of a campaign that sets no driver.
type unknown struct{ drivers.Spec }

func (unknown) Describe() string { return "not known" }
