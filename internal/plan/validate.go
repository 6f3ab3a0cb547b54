package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/workloads"
)

// Validate finds what the CRD's schema and rules cannot say: names that Kubernetes itself would refuse only
// when a child object is made. Everything else is refused when the campaign is applied.
func Validate(c *v1alpha1.BenchmarkCampaign) field.ErrorList {
	spec := field.NewPath("spec")
	errs := storage(c.Spec.OpenSearch.Storage, spec.Child("opensearch", "storage"))
	for i, v := range c.Spec.Variants {
		variant := spec.Child("variants").Index(i)
		errs = append(errs, nodePool(v.NodePool, variant.Child("nodePool"))...)
		errs = append(errs, endpoint(v.Endpoint, variant.Child("endpoint"))...)
		errs = append(errs, storage(v.OpenSearch.Storage, variant.Child("opensearch", "storage"))...)
	}
	errs = append(errs, nodePool(c.Spec.Loader.NodePool, spec.Child("loader", "nodePool"))...)
	errs = append(errs, storage(c.Spec.Loader.Cache, spec.Child("loader", "cache"))...)
	if c.Spec.Artifacts != nil {
		errs = append(errs, check(c.Spec.Artifacts.ClaimName, spec.Child("artifacts", "claimName"), validation.IsDNS1123Subdomain)...)
	}
	for i, t := range c.Spec.Topologies {
		errs = append(errs, configMapKey(t.ISMPolicyFrom, spec.Child("topologies").Index(i).Child("ismPolicyFrom"))...)
	}
	errs = append(errs, workload(c.Spec.Workload, spec.Child("workload"))...)
	errs = append(errs, patternAtEndpoint(c.Spec, spec.Child("workload", "index", "name"))...)
	errs = append(errs, targetThroughput(c.Spec, spec)...)
	errs = append(errs, indexSettings(c.Spec, spec)...)
	p := Build(c)
	if c.Spec.Final.OpenLoop != nil {
		errs = append(errs, bulkSizes(c.Spec, p, spec)...)
	}
	errs = append(errs, wait(p, c.Spec.Workload, spec.Child("workload", "waitSeconds"))...)
	errs = append(errs, coldStarts(p, spec.Child("workload", "warmupTrials"))...)
	errs = append(errs, zones(p, c.Spec, spec.Child("topologies"))...)
	errs = append(errs, cells(p, spec.Child("matrix"))...)
	errs = append(errs, pods(p, spec.Child("workload", "clientsPerPod"))...)
	return append(errs, size(p, spec)...)
}

// MaxTrials is how many trials a campaign may ask for, Warmups and retries aside: each takes minutes, and all their
// records are read whenever the campaign is looked at.
const MaxTrials = 10_000

// size finds campaigns that nobody lives to see the end of.
func size(p Plan, path *field.Path) field.ErrorList {
	repetitions := int(max(p.Repetitions, p.MaxRepetitions)) * int(p.Placements)
	cell := len(p.Clients)*int(p.SweepRepetitions) + repetitions
	if p.Fixed {
		cell = len(p.Clients) * repetitions
	}
	if trials := cell * len(p.Cells); trials > MaxTrials {
		return field.ErrorList{field.Invalid(path, fmt.Sprintf("%d trials", trials), fmt.Sprintf(
			"a campaign may ask for at most %d: lower final.placements, final.repetitions or sweep.repetitions, list fewer clients, or split it",
			MaxTrials))}
	}
	return nil
}

// wait refuses a wait before each load that takes all the time of a trial.
func wait(p Plan, w v1alpha1.Workload, path *field.Path) field.ErrorList {
	if n := seconds(w.WaitSeconds, 0); n >= p.TrialTimeout {
		return field.ErrorList{field.Invalid(path, *w.WaitSeconds, fmt.Sprintf(
			"must be below spec.timeouts.trialSeconds (%.0f; 14400 when unset), which it is a part of: lower it, or raise spec.timeouts.trialSeconds",
			p.TrialTimeout.Seconds()))}
	}
	return nil
}

// MaxPods is how many loader pods one trial may have.
const MaxPods = 256

// pods finds trials of more loader pods than one can wait for.
func pods(p Plan, path *field.Path) field.ErrorList {
	if len(p.Cells) == 0 || len(p.Clients) == 0 {
		return nil
	}
	spec, most := p.Cells[0].Spec, slices.Max(p.Clients)
	if n := spec.Loaders(most); n > MaxPods {
		return field.ErrorList{field.Invalid(path, spec.PerPod, fmt.Sprintf(
			"a trial of %d clients would have %d loader pods, at most %d are possible: raise it to %d or more, or sweep fewer clients",
			most, n, MaxPods, (most+MaxPods-1)/MaxPods))}
	}
	return nil
}

// cells finds a matrix of none or of too many.
func cells(p Plan, path *field.Path) field.ErrorList {
	switch n := len(p.Cells); {
	case n == 0:
		return field.ErrorList{field.Required(path, "it leaves no cell: include one, or exclude fewer")}
	case n > v1alpha1.MaxCells:
		return field.ErrorList{field.Invalid(path, fmt.Sprintf("%d cells", n), fmt.Sprintf(
			"a campaign has at most %d: exclude more, or split it", v1alpha1.MaxCells))}
	}
	return nil
}

// maxCommand bounds what a program is told, in bytes: all of it goes through one environment variable of the trial's pod,
// which holds 128 KiB on Linux.
const maxCommand = 64 << 10

func commandSize(c v1alpha1.Command, path *field.Path) field.ErrorList {
	n := 0
	for _, list := range [][]string{c.Command, c.Args} {
		for _, text := range list {
			n += len(text)
		}
	}
	for _, values := range []map[string]v1alpha1.ParamValue{c.Env, c.Params} {
		for name, value := range values {
			n += len(name) + len(value)
		}
	}
	if n > maxCommand {
		return field.ErrorList{field.TooLong(path, "", maxCommand)}
	}
	return nil
}

// targetThroughput finds parameters that set by hand what only an OpenLoop trial may set: with it every trial would
// be one.
func targetThroughput(s v1alpha1.BenchmarkCampaignSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.Workload.OSB == nil || s.Workload.OSB.TargetThroughputParam == "" {
		return nil
	}
	param := s.Workload.OSB.TargetThroughputParam
	look := func(params map[string]v1alpha1.ParamValue, at *field.Path) {
		if value, set := params[param]; set {
			errs = append(errs, field.Invalid(at.Key(param), string(value),
				"must not set what workload.osb.targetThroughputParam names: final.openLoop sets it, in OpenLoop trials only"))
		}
	}
	osb := path.Child("workload", "osb")
	look(s.Workload.OSB.Params, osb.Child("params"))
	look(s.Workload.OSB.WarmupParams, osb.Child("warmupParams"))
	for i, v := range s.Variants {
		look(v.Params, path.Child("variants").Index(i).Child("params"))
	}
	if reserved := param == s.Workload.OSB.ClientsParam || slices.Contains(topologyParams, param); reserved {
		errs = append(errs, field.Invalid(osb.Child("targetThroughputParam"), param,
			"must not be what the topology or the sweep sets: name the parameter of the ingest task's target-throughput"))
	}
	return errs
}

// bulkSizeParam is the parameter that tells every official workload its bulk size.
const bulkSizeParam = "bulk_size"

// bulkSizes finds cells whose OpenLoop trial would not know how many documents a request has, and with it its rate: it
// comes last, when all else has been measured.
func bulkSizes(s v1alpha1.BenchmarkCampaignSpec, p Plan, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{} // variants have theirs on every topology, and most have the workload's
	for _, cell := range p.Cells {
		if cell.Spec.OSB == nil {
			continue
		}
		at := path.Child("workload", "osb", "params").Key(bulkSizeParam)
		i := slices.IndexFunc(s.Variants, func(v v1alpha1.Variant) bool { return string(v.Name) == cell.Variant() })
		if _, own := s.Variants[i].Params[bulkSizeParam]; own {
			at = path.Child("variants").Index(i).Child("params").Key(bulkSizeParam)
		}
		value := string(cell.Spec.OSB.Params[bulkSizeParam])
		if n, err := strconv.ParseInt(value, 10, 32); (err != nil || n < 1) && !seen[at.String()] {
			seen[at.String()] = true
			errs = append(errs, field.Invalid(at, strconv.Quote(value),
				"final.openLoop needs it, a whole number of documents in a bulk request: the rate of its trials is set in requests a second"))
		}
	}
	return errs
}

// topologyParams are the workload's parameters that the topology sets.
var topologyParams = []string{"number_of_shards", "number_of_replicas", "refresh_interval"}

func workload(w v1alpha1.Workload, path *field.Path) field.ErrorList {
	errs := configMapKey(w.Index.BodyFrom, path.Child("index", "bodyFrom"))
	if w.OSB != nil {
		errs = append(errs, index(w, path.Child("index"))...)
		errs = append(errs, source(w.OSB.From, path.Child("osb", "from"))...)
	}
	if w.Bulk != nil && w.Bulk.Files != nil {
		errs = append(errs, source(&w.Bulk.Files.From, path.Child("bulk", "files", "from"))...)
	}
	if w.Command != nil {
		errs = append(errs, commandSize(*w.Command, path.Child("command"))...)
	}
	return errs
}

// index finds a workload without the name of an index, and an official workload that fills several indices under a body for one.
func index(w v1alpha1.Workload, path *field.Path) field.ErrorList {
	name := IndexName(w)
	switch {
	case name == "":
		return field.ErrorList{field.Required(path.Child("name"), fmt.Sprintf(
			"name the index that workload %s fills: Knee knows only those of %s", w.OSB.Workload, strings.Join(workloads.Names(), ", ")))}
	case strings.HasSuffix(name, "*") && (w.Index.BodyFrom != nil || value(w.Index.DataStream, false)):
		return field.ErrorList{field.Invalid(path.Child("name"), name,
			"stands for several indices, which the workload makes: leave bodyFrom and dataStream out, or name one index")}
	case strings.HasSuffix(name, "*") && value(w.ClientBoundCheck, false):
		return field.ErrorList{field.Invalid(path.Child("name"), name,
			"stands for several indices, and workload.clientBoundCheck can repeat the load of one index only: remove clientBoundCheck, or name one index")}
	}
	return nil
}

// patternAtEndpoint finds an index name that stands for several indices by default, beside a variant's endpoint: each trial
// deletes all of them there, so that a person must have written the pattern.
func patternAtEndpoint(s v1alpha1.BenchmarkCampaignSpec, path *field.Path) field.ErrorList {
	name := IndexName(s.Workload)
	atEndpoint := slices.ContainsFunc(s.Variants, func(v v1alpha1.Variant) bool { return v.Endpoint != nil })
	if !atEndpoint || s.Workload.Index.Name != "" || !strings.HasSuffix(name, "*") {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, fmt.Sprintf(
		"workload %s fills these indices, and each trial deletes every index of such a name at a variant's endpoint: set index.name to %q if all of them may be deleted",
		s.Workload.OSB.Workload, name))}
}

func configMapKey(from *v1alpha1.ConfigMapKey, path *field.Path) field.ErrorList {
	if from == nil {
		return nil
	}
	return append(check(from.Name, path.Child("name"), validation.IsDNS1123Subdomain),
		check(from.Key, path.Child("key"), validation.IsConfigMapKey)...)
}

func source(from *v1alpha1.WorkloadSource, path *field.Path) field.ErrorList {
	if from == nil {
		return nil
	}
	errs := check(from.ConfigMap, path.Child("configMap"), validation.IsDNS1123Subdomain)
	if from.Volume != nil {
		errs = append(errs, check(from.Volume.ClaimName, path.Child("volume", "claimName"), validation.IsDNS1123Subdomain)...)
	}
	return errs
}

func nodePool(p v1alpha1.NodePool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, label := range slices.Sorted(maps.Keys(p.NodeSelector)) {
		errs = append(errs, check(label, path.Child("nodeSelector").Key(label), validation.IsQualifiedName)...)
	}
	for i, toleration := range p.Tolerations {
		at := path.Child("tolerations").Index(i)
		errs = append(errs, check(toleration.Key, at.Child("key"), validation.IsQualifiedName)...)
		errs = append(errs, check(toleration.Value, at.Child("value"), validation.IsValidLabelValue)...)
	}
	return errs
}

func storage(s v1alpha1.Storage, path *field.Path) field.ErrorList {
	return check(s.StorageClassName, path.Child("storageClassName"), validation.IsDNS1123Subdomain)
}

// check applies a rule of Kubernetes to a name that is set.
func check(name string, path *field.Path, rule func(string) []string) field.ErrorList {
	var errs field.ErrorList
	if name == "" {
		return nil
	}
	for _, message := range rule(name) {
		errs = append(errs, field.Invalid(path, name, message))
	}
	return errs
}
