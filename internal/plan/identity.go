package plan

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
	"github.com/knee-bench/knee/internal/drivers/managerside"
	"github.com/knee-bench/knee/internal/record"
)

// identityVersion is part of every identity. A new version makes Knee measure every campaign again. Raise it only if the same
// spec now means another measurement.
const identityVersion = 1

// CellSpec holds everything that can change the measurement of a cell. Identity hashes its JSON, with sorted keys of maps. A
// new field must have omitempty or omitzero, so the identities of campaigns without the field stay the same.
//
// CellSpec does not contain fields that only plan or judge: clients, gates, knee, baseline, comparisons, prices, disk limits,
// repetitions and retries. It also does not contain the folder of raw files, or the parameter with which an OpenLoop trial sets
// its rate.
type CellSpec struct {
	SystemSpec
	LoadSpec
}

// SystemSpec is the measured system.
type SystemSpec struct {
	Variant    string              `json:"variant"`
	Pool       Pool                `json:"pool"`
	OpenSearch v1alpha1.OpenSearch `json:"opensearch"`
	Topology   Topology            `json:"topology"`
	Index      v1alpha1.Index      `json:"index"`
	Measure    v1alpha1.Measure    `json:"measure"`
}

// LoadSpec describes the load of a cell. It also contains other fields, such as Endpoint, because the order of the fields in the JSON
// must stay the same as in the first version of the identity.
type LoadSpec struct {
	Loader           v1alpha1.Loader `json:"loader"`
	v1alpha1.Drivers                 // with the params and the image of the variant
	PerPod           int32           `json:"clientsPerPod,omitempty"`
	Warmups          *int32          `json:"warmupTrials,omitempty"` // nil: the default; see WarmupTrials
	Wait             int32           `json:"waitSeconds,omitempty"`
	Rerun            string          `json:"rerun,omitempty"`
	Endpoint         *Endpoint       `json:"endpoint,omitempty"` // nil: Knee provisions the cluster, or the cell has no cluster
	Contents         record.Sources  `json:"contents,omitzero"`  // digests of the ConfigMaps that trials mount; see BuildWith
}

// Pool describes where a cell's OpenSearch runs: in the variant's node pool, with the architecture among the labels, or at an
// endpoint.
type Pool struct {
	NodeSelector map[string]string     `json:"nodeSelector,omitempty"`
	Tolerations  []v1alpha1.Toleration `json:"tolerations,omitempty"`
	Endpoint     string                `json:"endpoint,omitempty"` // host:port of an existing cluster, whose nodes Knee does not own
}

// Topology is v1alpha1.Topology with all defaults set.
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

func effectiveSpec(c *v1alpha1.BenchmarkCampaign, v v1alpha1.Variant, t v1alpha1.Topology) CellSpec {
	workload := c.Spec.Workload.DeepCopy()
	driver := DriverOf(*workload)
	driver.Override(v)
	spec := CellSpec{
		SystemSpec{
			Variant:    string(v.Name),
			Pool:       pool(v),
			OpenSearch: mergeOpenSearch(c.Spec.OpenSearch, v.OpenSearch),
			Topology: Topology{
				Name: string(t.Name), Nodes: value(t.Nodes, v1alpha1.DefaultNodes), Primaries: t.Primaries,
				Replicas: value(t.Replicas, v1alpha1.DefaultReplicas), RefreshInterval: t.RefreshInterval,
				Zones: value(t.Zones, 0), Replication: t.Replication, ISMPolicyFrom: t.ISMPolicyFrom,
			},
			Index:   workload.Index,
			Measure: workload.Measure,
		},
		LoadSpec{
			Loader:  c.Spec.Loader,
			Drivers: workload.Drivers,
			PerPod:  value(workload.ClientsPerPod, 0),
			Wait:    value(workload.WaitSeconds, 0),
			Rerun:   c.Spec.Rerun,
		},
	}
	spec.OpenSearch.DiskLimits = v1alpha1.DiskLimits{}
	spec.OpenSearch.PodTemplate = measuredPart(mergePodTemplates(c.Spec.OpenSearch.PodTemplate, v.OpenSearch.PodTemplate))
	spec.Loader.PodTemplate = measuredPart(c.Spec.Loader.PodTemplate)
	spec.Index.Name = IndexName(c.Spec.Workload)
	if !value(spec.Index.DataStream, false) {
		spec.Index.DataStream = nil // false has the same meaning as unset
	}
	switch {
	case v.Endpoint != nil:
		setEndpoint(&spec, *v.Endpoint)
	case !driver.NeedsOpenSearch() && spec.OpenSearch.Version == "" && spec.OpenSearch.Image == "":
		clearOpenSearch(&spec)
	}
	spec.Loader.Placement = first(spec.Loader.Placement, v1alpha1.LoaderDedicated)
	spec.Loader.Resources.Limits = effectiveLimits(spec.Loader.Resources)
	if n := c.Spec.Workload.WarmupTrials; value(n, v1alpha1.DefaultWarmupTrials) != v1alpha1.DefaultWarmupTrials {
		spec.Warmups = n
	}
	return spec
}

// IndexName returns the index that a workload fills: the user's index, or the driver's default index. It is empty if neither is
// known. Knee does not write the default into the campaign, because GitOps tools would report the change as drift.
func IndexName(w v1alpha1.Workload) string {
	return cmp.Or(w.Index.Name, DriverOf(w).DefaultIndex())
}

// DriverOf returns the driver of a workload.
func DriverOf(w v1alpha1.Workload) drivers.Spec { return managerside.Of(w.Drivers) }

// Driver returns the driver of the cell's load.
func (s CellSpec) Driver() drivers.Spec { return managerside.Of(s.Drivers) }

// Params returns all parameters of the cell's load that variants may override, with their final values. It is nil if the driver
// has no parameters.
func (s CellSpec) Params() map[string]v1alpha1.ParamValue { return s.Driver().Params() }

// WarmupTrials returns how many Warmup trials follow each start of the cell's JVM. Warmup trials change the measurement, so any
// number other than the default is part of the identity.
func (s CellSpec) WarmupTrials() int32 { return value(s.Warmups, v1alpha1.DefaultWarmupTrials) }

// Loaders returns the number of loader pods of a trial with this many clients.
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

// mergeOpenSearch overrides the campaign's defaults with a variant's OpenSearch. The settings are merged by key. Any other
// field that is set replaces the default.
func mergeOpenSearch(base, over v1alpha1.OpenSearch) v1alpha1.OpenSearch {
	out := *base.DeepCopy()
	out.Provisioner = first(over.Provisioner, out.Provisioner)
	out.Provisioner = withoutDefault(out.Provisioner, v1alpha1.ProvisionStatefulSet)
	out.Version = first(over.Version, out.Version)
	out.Image = first(over.Image, out.Image)
	if over.Version != "" && over.Image == "" {
		out.Image = "" // the variant sets its own version, so the campaign's image does not apply
	}
	out.Heap = first(over.Heap, out.Heap)
	if over.JavaOptions != nil {
		out.JavaOptions = over.JavaOptions
	}
	out.JavaHome = first(over.JavaHome, out.JavaHome)
	out.Settings = drivers.Merge(out.Settings, over.Settings)
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
		out.Security = nil // false has the same meaning as unset; clusters of the opensearch-k8s-operator are always secured
	}
	if over.SysctlInit != nil {
		out.SysctlInit = over.SysctlInit
	}
	if !value(out.SysctlInit, false) {
		out.SysctlInit = nil // false has the same meaning as unset
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

func first[T ~string](a, b T) T {
	if a != "" {
		return a
	}
	return b
}

// withoutDefault returns an empty string for the default value, so the default has the same identity as an unset field.
func withoutDefault[T ~string](value, byDefault T) T {
	if value == byDefault {
		return ""
	}
	return value
}

// effectiveLimits maps all values of limits with the same effect to one value. This value is empty for the default, and if
// limits has no effect because there is no request.
func effectiveLimits(r v1alpha1.Resources) v1alpha1.ResourceLimits {
	for _, limits := range []v1alpha1.ResourceLimits{"", v1alpha1.LimitMemory} {
		same := v1alpha1.Resources{CPU: r.CPU, Memory: r.Memory, Limits: limits}
		if same.CPULimit() == r.CPULimit() && same.MemoryLimit() == r.MemoryLimit() {
			return limits
		}
	}
	return r.Limits
}

// Identity returns the hash of a cell's spec: 16 characters of [a-z2-7]. A golden test protects the hash, because a change
// would invalidate all measurements of users.
func Identity(spec CellSpec) string {
	spec = withoutEndpointName(spec)
	b := mustEncode(struct {
		SystemSpec
		OSB *v1alpha1.OSB `json:"osb,omitempty"` // keeps the JSON order of the first version of the identity, and hides the field of Drivers
		LoadSpec
	}{spec.SystemSpec, spec.OSB, spec.LoadSpec})
	if spec.Command != nil {
		b = bytes.Replace(b, mustEncode(spec.Command), mustEncode(identifyCommand(*spec.Command)), 1)
	}
	return Digest(fmt.Sprintf("v%d\n%s", identityVersion, b), 16)
}

// commandIdentity has the fields of v1alpha1.Command in the order of the first version of the identity. It still has the field parser, which
// the API had before text and preset, so that a program whose output is read as before keeps its identity.
type commandIdentity struct {
	Image      string                         `json:"image,omitempty"`
	Command    []string                       `json:"command,omitempty"`
	Args       []string                       `json:"args,omitempty"`
	Env        map[string]v1alpha1.ParamValue `json:"env,omitempty"`
	Params     map[string]v1alpha1.ParamValue `json:"params,omitempty"`
	Parser     string                         `json:"parser,omitempty"`
	JSON       *v1alpha1.JSONFigures          `json:"json,omitempty"`
	Text       *v1alpha1.TextFigures          `json:"text,omitempty"`
	Preset     v1alpha1.CommandPreset         `json:"preset,omitempty"`
	Prometheus *v1alpha1.Prometheus           `json:"prometheus,omitempty"`
}

func identifyCommand(c v1alpha1.Command) commandIdentity {
	out := commandIdentity{Image: c.Image, Command: c.Command, Args: c.Args, Env: c.Env, Params: c.Params,
		JSON: c.JSON, Text: c.Text, Preset: c.Preset, Prometheus: c.Prometheus}
	switch {
	case c.JSON != nil:
		out.Parser = "JSON"
	case c.Preset == v1alpha1.PresetFreon:
		out.Parser, out.Preset = "Freon", ""
	}
	return out
}

func mustEncode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("plan: a cell's spec is plain data: " + err.Error())
	}
	return b
}

// withoutEndpointName removes the name that a campaign gives to the endpoint of a program. The name only says which trials may run at
// the same time. The program finds its system by its arguments, which are part of the identity. So naming the endpoint repeats no
// measurement.
func withoutEndpointName(spec CellSpec) CellSpec {
	if spec.Command == nil || spec.Command.Endpoint == "" {
		return spec
	}
	command := *spec.Command
	command.Endpoint = ""
	spec.Command = &command
	if spec.Endpoint == nil && spec.Pool.Endpoint != "" {
		spec.Pool.Endpoint = unknown
	}
	return spec
}

// Digest returns n characters of [a-z2-7] that identify a text.
func Digest(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))[:n]
}

// cellName returns the base of the names of a cell's objects. The name is readable. The campaign's UID and the cell's hash make the name
// unique. The name has at most 12+1+10+1+10 characters.
func cellName(c *v1alpha1.BenchmarkCampaign, variant, hash string) string {
	return fmt.Sprintf("%s-%s-%s", cutName(c.Name, 12), cutName(variant, 10), Digest(string(c.UID)+"/"+hash, 10))
}

// cutName shortens a name to n characters. The result is valid within a DNS label, also at the start of a label.
func cutName(s string, n int) string {
	s = strings.ReplaceAll(s, ".", "-")
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "c" + s // a Service's name must not begin with a digit
	}
	return strings.TrimRight(s[:min(len(s), n)], "-")
}

// maxName is the maximum length of a Job's name. The name of the Job's record begins with the Job's name.
const maxName = 52

// AttemptName returns the name of an attempt's Job, at most 52 characters. The name of the attempt's record begins with it. For
// an OpenLoop trial it contains a digest of the rate. For a point that is measured again it contains a digest of the token. If
// the name would be longer (such as a hundredth attempt on a tenth placement), a digest replaces it.
func (c Cell) AttemptName(a record.Attempt) string {
	which := strconv.Itoa(int(a.Repetition))
	if a.Phase == record.OpenLoop {
		which = Digest(strconv.FormatInt(a.TargetDocsPerSecond, 10), 4)
	}
	if a.RerunToken != "" {
		which += "r" + Digest(a.RerunToken, 6)
	}
	if a.Placement > 1 {
		which += fmt.Sprintf("p%d", a.Placement)
	}
	phase := strings.ToLower(string(a.Phase[:1]))
	attempt := fmt.Sprintf("%s%d-%s-%d", phase, a.Clients, which, a.N)
	if len(c.Name)+1+len(attempt) > maxName {
		attempt = phase + Digest(attempt, 14)
	}
	return c.Name + "-" + attempt
}
