package plan

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/workloads"
)

// identityVersion is part of every identity. Raising it measures every campaign anew: do so only when the same
// spec comes to mean another measurement.
const identityVersion = 1

// CellSpec is everything that makes a measurement of a cell what it is. Its JSON, with sorted keys, is hashed
// into the cell's identity: a field may be added only with omitempty or omitzero, so that identities of
// campaigns that do not use it stay. What only plans or judges (clients, gates, knee, baseline, comparisons, prices,
// disk limits, repetitions, retries) is not in it, nor is where raw files are left, nor by which parameter an OpenLoop
// trial sets its rate, since no other trial does.
type CellSpec struct {
	Variant    string              `json:"variant"`
	Pool       Pool                `json:"pool"`
	OpenSearch v1alpha1.OpenSearch `json:"opensearch"`
	Topology   Topology            `json:"topology"`
	Index      v1alpha1.Index      `json:"index"`
	Measure    v1alpha1.Measure    `json:"measure"`
	OSB        *v1alpha1.OSB       `json:"osb,omitempty"`
	Loader     v1alpha1.Loader     `json:"loader"`
	Bulk       *v1alpha1.Bulk      `json:"bulk,omitempty"`
	Stream     *v1alpha1.Stream    `json:"stream,omitempty"`
	Command    *v1alpha1.Command   `json:"command,omitempty"` // with the variant's params and image
	PerPod     int32               `json:"clientsPerPod,omitempty"`
	Warmups    *int32              `json:"warmupTrials,omitempty"` // nil: 1. See WarmupTrials
	Wait       int32               `json:"waitSeconds,omitempty"`
	Rerun      string              `json:"rerun,omitempty"`
	Endpoint   *Endpoint           `json:"endpoint,omitempty"` // of a cluster that is there already
	Contents   record.Sources      `json:"contents,omitzero"`  // digests of the ConfigMaps that trials mount; see BuildWith
}

// Pool is where a cell's OpenSearch runs: the variant's node pool, its architecture among the labels, or an endpoint.
type Pool struct {
	NodeSelector map[string]string     `json:"nodeSelector,omitempty"`
	Tolerations  []v1alpha1.Toleration `json:"tolerations,omitempty"`
	Endpoint     string                `json:"endpoint,omitempty"` // host:port of a cluster that is there already; it has no nodes of Knee's
}

// Topology is v1alpha1.Topology with its defaults filled in.
type Topology struct {
	Name            string `json:"name"`
	Nodes           int32  `json:"nodes"`
	Primaries       int32  `json:"primaries"`
	Replicas        int32  `json:"replicas"`
	RefreshInterval string `json:"refreshInterval"`

	Zones         int32                  `json:"zones,omitempty"` // 0: OpenSearch's pods are not spread over zones
	Replication   v1alpha1.Replication   `json:"replication,omitempty"`
	ISMPolicyFrom *v1alpha1.ConfigMapKey `json:"ismPolicyFrom,omitempty"`
}

// ArchLabel is the node label that holds the CPU architecture.
const ArchLabel = "kubernetes.io/arch"

func effective(c *v1alpha1.BenchmarkCampaign, v v1alpha1.Variant, t v1alpha1.Topology) CellSpec {
	spec := CellSpec{
		Variant:    string(v.Name),
		Pool:       pool(v),
		OpenSearch: mergeOpenSearch(c.Spec.OpenSearch, v.OpenSearch),
		Topology: Topology{
			Name: string(t.Name), Nodes: value(t.Nodes, 1), Primaries: t.Primaries,
			Replicas: value(t.Replicas, 0), RefreshInterval: t.RefreshInterval,
			Zones: value(t.Zones, 0), Replication: t.Replication, ISMPolicyFrom: t.ISMPolicyFrom,
		},
		Index:   c.Spec.Workload.Index,
		Measure: c.Spec.Workload.Measure,
		Loader:  c.Spec.Loader,
		Rerun:   c.Spec.Rerun,
	}
	spec.OpenSearch.DiskLimits = v1alpha1.DiskLimits{}
	spec.Index.Name = IndexName(c.Spec.Workload)
	if !value(spec.Index.DataStream, false) {
		spec.Index.DataStream = nil // false says what unset says
	}
	switch {
	case v.Endpoint != nil:
		toEndpoint(&spec, *v.Endpoint)
	case c.Spec.Workload.Command != nil && spec.OpenSearch.Version == "" && spec.OpenSearch.Image == "":
		toUnknown(&spec)
	}
	spec.Loader.Placement = first(spec.Loader.Placement, v1alpha1.LoaderDedicated)
	spec.Loader.Resources.Limits = effectiveLimits(spec.Loader.Resources)
	spec.PerPod = value(c.Spec.Workload.ClientsPerPod, 0)
	if n := c.Spec.Workload.WarmupTrials; value(n, 1) != 1 {
		spec.Warmups = n // 1 says what unset says
	}
	spec.Wait = value(c.Spec.Workload.WaitSeconds, 0)
	load(&spec, c.Spec.Workload.DeepCopy(), v)
	return spec
}

// IndexName is the index that a workload fills: the campaign's, else that of the official workload of opensearch-benchmark.
// The default is not written to the object, which GitOps tools would take for drift. Empty where nothing says it.
func IndexName(w v1alpha1.Workload) string {
	if w.Index.Name == "" && w.OSB != nil {
		name, _ := workloads.Index(w.OSB.Workload)
		return name
	}
	return w.Index.Name
}

// load lays a variant's params and image over those of the driver that the campaign names.
func load(spec *CellSpec, w *v1alpha1.Workload, v v1alpha1.Variant) {
	spec.OSB, spec.Bulk, spec.Stream, spec.Command = w.OSB, w.Bulk, w.Stream, w.Command
	if osb := spec.OSB; osb != nil {
		osb.Params = merge(osb.Params, v.Params)
		osb.TargetThroughputParam = ""
	}
	if stream := spec.Stream; stream != nil {
		stream.Params = merge(stream.Params, v.Params)
	}
	if command := spec.Command; command != nil {
		command.Params = merge(command.Params, v.Params)
		command.Image = first(v.Image, command.Image)
	}
}

// Params are the parameters of the cell's load that variants may set, complete; nil where the driver has none.
func (s CellSpec) Params() map[string]v1alpha1.ParamValue {
	switch {
	case s.OSB != nil:
		return s.OSB.Params
	case s.Stream != nil:
		return s.Stream.Params
	case s.Command != nil:
		return s.Command.Params
	}
	return nil
}

// WarmupTrials is how many Warmup trials follow each start of the cell's JVM. They change the measurement that follows, and
// are part of the identity where they are not 1.
func (s CellSpec) WarmupTrials() int32 { return value(s.Warmups, 1) }

// Loaders is how many loader pods a trial of so many clients has.
func (s CellSpec) Loaders(clients int32) int32 {
	if s.PerPod <= 0 {
		return 1
	}
	return max((clients+s.PerPod-1)/s.PerPod, 1)
}

func pool(v v1alpha1.Variant) Pool {
	p := Pool{Tolerations: v.NodePool.Tolerations}
	if len(v.NodePool.NodeSelector) > 0 || v.Architecture != "" {
		p.NodeSelector = map[string]string{}
	}
	for k, label := range v.NodePool.NodeSelector {
		p.NodeSelector[k] = string(label)
	}
	if v.Architecture != "" {
		p.NodeSelector[ArchLabel] = string(v.Architecture)
	}
	return p
}

// mergeOpenSearch lays a variant's OpenSearch over the campaign's defaults: settings merge by key, every other
// field that is set replaces.
func mergeOpenSearch(base, over v1alpha1.OpenSearch) v1alpha1.OpenSearch {
	out := *base.DeepCopy()
	out.Provisioner = first(over.Provisioner, out.Provisioner)
	out.Provisioner = withoutDefault(out.Provisioner, v1alpha1.ProvisionStatefulSet)
	out.Version = first(over.Version, out.Version)
	out.Image = first(over.Image, out.Image)
	if over.Version != "" && over.Image == "" {
		out.Image = "" // a variant's own version is not the campaign's image
	}
	out.Heap = first(over.Heap, out.Heap)
	if over.JavaOptions != nil {
		out.JavaOptions = over.JavaOptions
	}
	out.JavaHome = first(over.JavaHome, out.JavaHome)
	out.Settings = merge(out.Settings, over.Settings)
	out.Resources.CPU = first(over.Resources.CPU, out.Resources.CPU)
	out.Resources.Memory = first(over.Resources.Memory, out.Resources.Memory)
	out.Resources.Limits = first(over.Resources.Limits, out.Resources.Limits)
	out.Resources.Limits = effectiveLimits(out.Resources)
	out.Storage.Size = first(over.Storage.Size, out.Storage.Size)
	out.Storage.StorageClassName = first(over.Storage.StorageClassName, out.Storage.StorageClassName)
	if over.Security != nil {
		out.Security = over.Security
	}
	if !value(out.Security, false) || out.Provisioner == v1alpha1.ProvisionOpenSearchCluster {
		out.Security = nil // false says what unset says; the operator's clusters are always secured
	}
	if over.SysctlInit != nil {
		out.SysctlInit = over.SysctlInit
	}
	if !value(out.SysctlInit, false) {
		out.SysctlInit = nil // false says what unset says
	}
	return out
}

func mergeDiskLimits(base, over v1alpha1.DiskLimits) v1alpha1.DiskLimits {
	if over.MiBPerSecond != nil {
		base.MiBPerSecond = over.MiBPerSecond
	}
	if over.IOPS != nil {
		base.IOPS = over.IOPS
	}
	return base
}

func merge[V any](base, over map[string]V) map[string]V {
	if len(base)+len(over) == 0 {
		return nil
	}
	out := maps.Clone(base)
	if out == nil {
		out = map[string]V{}
	}
	maps.Copy(out, over)
	return out
}

func first[T ~string](a, b T) T {
	if a != "" {
		return a
	}
	return b
}

// withoutDefault returns the empty string for the default, so that a default has the identity of an unset field.
func withoutDefault[T ~string](value, byDefault T) T {
	if value == byDefault {
		return ""
	}
	return value
}

// effectiveLimits returns the value of limits that stands for all values with the same limits: empty for the default, or
// where a value changes nothing, because there is no request that it could be about.
func effectiveLimits(r v1alpha1.Resources) v1alpha1.ResourceLimits {
	for _, limits := range []v1alpha1.ResourceLimits{"", v1alpha1.LimitMemory} {
		same := v1alpha1.Resources{CPU: r.CPU, Memory: r.Memory, Limits: limits}
		if same.CPULimit() == r.CPULimit() && same.MemoryLimit() == r.MemoryLimit() {
			return limits
		}
	}
	return r.Limits
}

// Identity is the hash of a cell's spec: 16 characters of [a-z2-7]. It is golden-tested: a change of it throws
// away every measurement that users have made.
func Identity(spec CellSpec) string {
	b, err := json.Marshal(spec)
	if err != nil {
		panic("plan: a cell's spec is plain data: " + err.Error())
	}
	return Digest(fmt.Sprintf("v%d\n%s", identityVersion, b), 16)
}

// Digest is n characters of [a-z2-7] that stand for a text.
func Digest(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))[:n]
}

// cellName is the base of the names of a cell's objects: readable, unique by the campaign's UID and the cell's
// hash, at most 12+1+10+1+10 characters.
func cellName(c *v1alpha1.BenchmarkCampaign, variant, hash string) string {
	return fmt.Sprintf("%s-%s-%s", head(c.Name, 12), head(variant, 10), Digest(string(c.UID)+"/"+hash, 10))
}

// head cuts a name to n characters that can begin or go on a DNS label.
func head(s string, n int) string {
	s = strings.ReplaceAll(s, ".", "-")
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "c" + s // a Service's name must not begin with a digit
	}
	return strings.TrimRight(s[:min(len(s), n)], "-")
}

// maxName is how long the names of Jobs and of their records' bases may be.
const maxName = 52

// AttemptName names the Job and the record of one attempt: at most 52 characters. The name of an OpenLoop
// trial contains a digest of its rate, and the name of a point that is measured again a digest of its token. The few names that
// would be longer (a hundredth attempt on a tenth placement) are a digest.
func (c Cell) AttemptName(t record.Trial) string {
	which := strconv.Itoa(int(t.Repetition))
	if t.Phase == record.OpenLoop {
		which = Digest(strconv.FormatInt(t.TargetDocsPerSecond, 10), 4)
	}
	if t.Again != "" {
		which += "r" + Digest(t.Again, 6)
	}
	if t.Placement > 0 {
		which += fmt.Sprintf("p%d", t.Placement)
	}
	phase := strings.ToLower(string(t.Phase[:1]))
	attempt := fmt.Sprintf("%s%d-%s-%d", phase, t.Clients, which, t.Attempt)
	if len(c.Name)+1+len(attempt) > maxName {
		attempt = phase + Digest(attempt, 14)
	}
	return c.Name + "-" + attempt
}
