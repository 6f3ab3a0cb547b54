package resources

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// driver is the controller's side of a program that makes a load: the container of its trials, and what the agent in it is
// told. A trial's pod is the same for every driver but for this. docs/drivers.md says how another one is added.
type driver interface {
	// image is that of the trial's container.
	image(o Options) string
	// hasAgent says that the agent is the image's own; into any other it is copied.
	hasAgent() bool
	// from is where files of the load come from that are mounted at record.WorkloadPath, and the spec's field that says so;
	// nil: there are none.
	from() (source *v1alpha1.WorkloadSource, field string)
	// configure fills the driver's section of what the agent of an attempt is told.
	configure(cfg *record.Config, campaign v1alpha1.BenchmarkCampaignSpec)
}

// driverOf is the driver of a cell: exactly one is set.
func driverOf(spec plan.CellSpec) driver {
	switch {
	case spec.Bulk != nil:
		return bulkDriver{spec.Bulk}
	case spec.Stream != nil:
		return streamDriver{spec.Stream}
	case spec.Command != nil:
		return commandDriver{spec.Command}
	}
	return osbDriver{spec.OSB, spec.Topology}
}

// trialContainer is the container that makes the load.
func trialContainer(cell plan.Cell, d driver, cfg string, o Options) corev1.Container {
	c := corev1.Container{
		Name:    ContainerTrial,
		Image:   d.image(o),
		Command: []string{record.AgentPath, "trial"},
		Env: []corev1.EnvVar{
			{Name: record.ConfigEnv, Value: verbatim(cfg)},
			hostEnv(),
		},
		Resources:              requirements(cell.Spec.Loader.Resources),
		SecurityContext:        restrictedContainer(d.hasAgent()), // other programs, OSB among them, may write beside their own code
		TerminationMessagePath: record.TerminationPath,
		VolumeMounts: []corev1.VolumeMount{
			{Name: "work", MountPath: record.WorkPath},
			{Name: "cache", MountPath: record.CachePath},
		},
	}
	if d.hasAgent() {
		c.Command[0] = agentInImage
	} else {
		c.VolumeMounts = append([]corev1.VolumeMount{{Name: "agent", MountPath: "/knee/bin", ReadOnly: true}}, c.VolumeMounts...)
	}
	return c
}

// texts are a spec's values as the agent takes them.
func texts(in map[string]v1alpha1.ParamValue) map[string]string {
	out := map[string]string{}
	for k, v := range in {
		out[k] = string(v)
	}
	return out
}
