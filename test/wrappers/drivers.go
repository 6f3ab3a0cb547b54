package wrappers

import (
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// Bulk selects Knee's own loader as driver. Each client sends the given number of small documents.
func (c *Campaign) Bulk(documentsPerClient int64) *Campaign {
	c.Spec.Workload.OSB = nil
	c.Spec.Workload.Bulk = &v1alpha1.Bulk{Dataset: v1alpha1.DatasetSmall, DocumentsPerClient: &documentsPerClient}
	return c
}

// Stream selects the stream transport's Benchmark API as driver, on topologies of two nodes.
func (c *Campaign) Stream(params map[string]v1alpha1.ParamValue) *Campaign {
	c.Spec.Workload = v1alpha1.Workload{Measure: v1alpha1.MeasureWhole, Drivers: v1alpha1.Drivers{Stream: &v1alpha1.Stream{Params: params}}}
	for i := range c.Spec.Topologies {
		c.Spec.Topologies[i].Nodes, c.Spec.Topologies[i].Primaries = ptr.To[int32](2), 0
	}
	return c
}

// Command selects a program as driver. There is no OpenSearch and no topology. The argument of the program is the
// client count. Call it after the variants were added.
func (c *Campaign) Command(image string, command ...string) *Campaign {
	c.Spec.OpenSearch, c.Spec.Topologies = v1alpha1.OpenSearch{}, nil
	for i := range c.Spec.Variants {
		c.Spec.Variants[i].NodePool = v1alpha1.NodePool{}
	}
	c.Spec.Workload = v1alpha1.Workload{
		Measure: v1alpha1.MeasureWhole,
		Drivers: v1alpha1.Drivers{Command: &v1alpha1.Command{Image: image, Command: command, Args: []string{"-t", "$(KNEE_CLIENTS)"}, Preset: v1alpha1.PresetFreon}},
	}
	return c
}

// ClientsPerPod sets how many clients a loader pod has.
func (c *Campaign) ClientsPerPod(n int32) *Campaign { c.Spec.Workload.ClientsPerPod = &n; return c }

// Nodes sets the number of nodes of each topology.
func (c *Campaign) Nodes(n int32) *Campaign {
	for i := range c.Spec.Topologies {
		c.Spec.Topologies[i].Nodes = ptr.To(n)
	}
	return c
}

// Without excludes the cell of a variant on a topology.
func (c *Campaign) Without(variant, topology string) *Campaign {
	if c.Spec.Matrix == nil {
		c.Spec.Matrix = &v1alpha1.Matrix{}
	}
	c.Spec.Matrix.Exclude = append(c.Spec.Matrix.Exclude,
		v1alpha1.CellSelector{Variant: v1alpha1.Name(variant), Topology: v1alpha1.Name(topology)})
	return c
}
