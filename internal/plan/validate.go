package plan

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
)

// Validate finds errors that the CRD's schema and rules cannot find, such as names that Kubernetes would refuse only when Knee
// creates a child object.
func Validate(c *v1alpha1.BenchmarkCampaign) field.ErrorList {
	spec := field.NewPath("spec")
	errs := checkStorage(c.Spec.OpenSearch.Storage, spec.Child("opensearch", "storage"))
	for i, v := range c.Spec.Variants {
		variant := spec.Child("variants").Index(i)
		errs = append(errs, checkNodePool(v.NodePool, variant.Child("nodePool"))...)
		errs = append(errs, checkEndpoint(v.Endpoint, variant.Child("endpoint"))...)
		errs = append(errs, checkStorage(v.OpenSearch.Storage, variant.Child("opensearch", "storage"))...)
	}
	errs = append(errs, checkNodePool(c.Spec.Loader.NodePool, spec.Child("loader", "nodePool"))...)
	errs = append(errs, checkStorage(c.Spec.Loader.Cache, spec.Child("loader", "cache"))...)
	if c.Spec.Artifacts != nil {
		errs = append(errs, checkName(c.Spec.Artifacts.ClaimName, spec.Child("artifacts", "claimName"), validation.IsDNS1123Subdomain)...)
	}
	for i, t := range c.Spec.Topologies {
		errs = append(errs, checkConfigMapKey(t.ISMPolicyFrom, spec.Child("topologies").Index(i).Child("ismPolicyFrom"))...)
	}
	p := Build(c)
	errs = append(errs, validateWorkload(c.Spec, p)...)
	errs = append(errs, checkWait(p, c.Spec.Workload, spec.Child("workload", "waitSeconds"))...)
	errs = append(errs, checkColdStarts(p, spec.Child("workload", "warmupTrials"))...)
	errs = append(errs, checkZones(p, c.Spec, spec.Child("topologies"))...)
	errs = append(errs, checkCells(p, spec.Child("matrix"))...)
	errs = append(errs, checkPods(p, spec.Child("workload", "clientsPerPod"))...)
	return append(errs, checkSize(p, spec)...)
}

// MaxTrials is how many trials a campaign may have, without Warmups and retries. Each trial takes minutes, and every Reconcile
// reads the records of all trials.
const MaxTrials = 10_000

// checkSize finds campaigns with too many trials.
func checkSize(p Plan, path *field.Path) field.ErrorList {
	repetitions := int(max(p.Repetitions, p.MaxRepetitions)) * int(p.Placements)
	cell := len(p.Clients)*int(p.SweepRepetitions) + repetitions
	if p.Fixed {
		cell = len(p.Clients) * repetitions
	}
	if trials := cell * len(p.Cells); trials > MaxTrials {
		return field.ErrorList{field.Invalid(path, fmt.Sprintf("%d trials", trials), fmt.Sprintf(
			"a campaign may have at most %d trials: lower final.placements, final.repetitions or sweep.repetitions; or list fewer client counts; or split the campaign",
			MaxTrials))}
	}
	return nil
}

// checkWait finds a pause before the load that is not shorter than the timeout of a trial.
func checkWait(p Plan, w v1alpha1.Workload, path *field.Path) field.ErrorList {
	if n := seconds(w.WaitSeconds, 0); n >= p.TrialTimeout {
		return field.ErrorList{field.Invalid(path, *w.WaitSeconds, fmt.Sprintf(
			"must be below spec.timeouts.trialSeconds (now %.0f s, default %d s), because this timeout includes the wait: lower waitSeconds or raise the timeout",
			p.TrialTimeout.Seconds(), v1alpha1.DefaultTrialSeconds))}
	}
	return nil
}

// MaxPods is how many loader pods one trial may have.
const MaxPods = 256

// checkPods finds trials with too many loader pods.
func checkPods(p Plan, path *field.Path) field.ErrorList {
	if len(p.Cells) == 0 || len(p.Clients) == 0 {
		return nil
	}
	spec, most := p.Cells[0].Spec, slices.Max(p.Clients)
	if n := spec.Loaders(most); n > MaxPods {
		return field.ErrorList{field.Invalid(path, spec.PerPod, fmt.Sprintf(
			"a trial of %d clients would have %d loader pods, but at most %d are possible: raise clientsPerPod to %d or more, or lower the client counts in spec.sweep",
			most, n, MaxPods, (most+MaxPods-1)/MaxPods))}
	}
	return nil
}

// checkCells finds a matrix with no cells or with too many cells.
func checkCells(p Plan, path *field.Path) field.ErrorList {
	switch n := len(p.Cells); {
	case n == 0:
		return field.ErrorList{field.Required(path, "the matrix has no cell: add an entry to matrix.include, or remove an entry from matrix.exclude")}
	case n > v1alpha1.MaxCells:
		return field.ErrorList{field.Invalid(path, fmt.Sprintf("%d cells", n), fmt.Sprintf(
			"a campaign may have at most %d cells: exclude more cells (matrix.exclude), or split the campaign", v1alpha1.MaxCells))}
	}
	return nil
}

// validateWorkload checks the names of the workload's ConfigMaps and claims, and the fields of the driver.
func validateWorkload(s v1alpha1.BenchmarkCampaignSpec, p Plan) field.ErrorList {
	driver := DriverOf(s.Workload)
	errs := checkConfigMapKey(s.Workload.Index.BodyFrom, drivers.Path("index", "bodyFrom"))
	if from, at := driver.Files(); from != nil {
		errs = append(errs, checkSource(*from, at)...)
	}
	isMeasured := func(variant v1alpha1.Name) bool {
		return slices.ContainsFunc(p.Cells, func(c Cell) bool { return c.Variant() == string(variant) })
	}
	return append(errs, driver.Validate(drivers.Campaign{Spec: s, Clients: p.Clients, IsMeasured: isMeasured})...)
}

func checkConfigMapKey(from *v1alpha1.ConfigMapKey, path *field.Path) field.ErrorList {
	if from == nil {
		return nil
	}
	return append(checkName(from.Name, path.Child("name"), validation.IsDNS1123Subdomain),
		checkName(from.Key, path.Child("key"), validation.IsConfigMapKey)...)
}

func checkSource(from v1alpha1.WorkloadSource, path *field.Path) field.ErrorList {
	errs := checkName(from.ConfigMap, path.Child("configMap"), validation.IsDNS1123Subdomain)
	if from.Volume != nil {
		errs = append(errs, checkName(from.Volume.ClaimName, path.Child("volume", "claimName"), validation.IsDNS1123Subdomain)...)
	}
	return errs
}

func checkNodePool(p v1alpha1.NodePool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, label := range slices.Sorted(maps.Keys(p.NodeSelector)) {
		errs = append(errs, checkName(label, path.Child("nodeSelector").Key(label), validation.IsQualifiedName)...)
	}
	for i, toleration := range p.Tolerations {
		at := path.Child("tolerations").Index(i)
		errs = append(errs, checkName(toleration.Key, at.Child("key"), validation.IsQualifiedName)...)
		errs = append(errs, checkName(toleration.Value, at.Child("value"), validation.IsValidLabelValue)...)
	}
	return errs
}

func checkStorage(s v1alpha1.Storage, path *field.Path) field.ErrorList {
	return checkName(s.StorageClassName, path.Child("storageClassName"), validation.IsDNS1123Subdomain)
}

// checkName checks a name with a naming rule of Kubernetes, unless the name is empty.
func checkName(name string, path *field.Path, rule func(string) []string) field.ErrorList {
	var errs field.ErrorList
	if name == "" {
		return nil
	}
	for _, message := range rule(name) {
		errs = append(errs, field.Invalid(path, name, message))
	}
	return errs
}
