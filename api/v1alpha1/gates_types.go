package v1alpha1

// Gates are limits on a trial's quality, judged from its record.
type Gates struct {
	// maxRejections is how many rejected requests are allowed, summed over every rejection counter of every node. Unset: no
	// limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxRejections *int64 `json:"maxRejections,omitempty"`
	// maxIOWaitPercent is the highest mean iowait of any OpenSearch node over the load window, in percent of all cores.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0 && double(string(self)) <= 100.0",message="maxIOWaitPercent must be from 0 to 100 percent"
	MaxIOWaitPercent *Decimal `json:"maxIOWaitPercent,omitempty"`
	// maxStealPercent is the highest mean steal of any OpenSearch node over the load window, in percent of all cores.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0 && double(string(self)) <= 100.0",message="maxStealPercent must be from 0 to 100 percent"
	MaxStealPercent *Decimal `json:"maxStealPercent,omitempty"`
	// maxCPUPercent is the highest mean user+sys CPU of any OpenSearch node over the load window, in percent of all cores. For
	// nodes without a probe (endpoints, provisioner OpenSearchCluster) it is os.cpu.percent, which the node itself reports.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 1.0 && double(string(self)) <= 100.0",message="maxCPUPercent must be from 1 to 100 percent"
	MaxCPUPercent *Decimal `json:"maxCPUPercent,omitempty"`
	// maxLoaderCPUPercent is the highest mean CPU of the loader's busiest process, in percent of one core.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 1.0 && double(string(self)) <= 100.0",message="maxLoaderCPUPercent must be from 1 to 100 percent"
	MaxLoaderCPUPercent *Decimal `json:"maxLoaderCPUPercent,omitempty"`
	// maxErrorRate is the highest share of the ingest tasks' requests that may fail, from 0 to 1. The driver counts the
	// requests and the failures.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0 && double(string(self)) <= 1.0",message="maxErrorRate is a share of requests, from 0 to 1"
	MaxErrorRate *Decimal `json:"maxErrorRate,omitempty"`
	// maxIOPressurePercent is the highest PSI io "some" of any OpenSearch node over the load window: the share of time in
	// which at least one task waited for a disk.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0 && double(string(self)) <= 100.0",message="maxIOPressurePercent must be from 0 to 100 percent"
	MaxIOPressurePercent *Decimal `json:"maxIOPressurePercent,omitempty"`
	// maxThrottledPercent is the highest share of any OpenSearch node's CPU quota periods that were throttled.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0 && double(string(self)) <= 100.0",message="maxThrottledPercent must be from 0 to 100 percent"
	MaxThrottledPercent *Decimal `json:"maxThrottledPercent,omitempty"`
	// minClientUtilization is the lowest share of the clients' time that must be spent waiting for the server, from 0 to 1.
	// Below 0.9 the loader is the limit.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0 && double(string(self)) <= 1.0",message="minClientUtilization is a share of time, from 0 to 1"
	MinClientUtilization *Decimal `json:"minClientUtilization,omitempty"`
	// minSteadySeconds is the minimum length of the steady part of the load.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	MinSteadySeconds *int32 `json:"minSteadySeconds,omitempty"`
	// maxCVPercent is the highest coefficient of variation of docs/s within the load window, over means of five seconds.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^-?[0-9.]+$') || double(string(self)) >= 0.0 && double(string(self)) <= 1000.0",message="maxCVPercent must be from 0 to 1000 percent"
	MaxCVPercent *Decimal `json:"maxCVPercent,omitempty"`
	// notEvaluable defines what happens to a gate whose figure cannot be measured, such as the iowait of machines behind a variant's
	// endpoint or an OpenSearchCluster. Refuse: Knee does not admit a campaign with a gate that no trial can pass, and a trial without
	// the figure of a gate is Gated. Report: the other gates judge the trial, and the report and the condition Conclusive name the gate
	// that could not be judged.
	// +optional
	// +kubebuilder:default=Refuse
	NotEvaluable NotEvaluable `json:"notEvaluable,omitempty"`
	// expressions are gates of your own.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Expressions []GateExpression `json:"expressions,omitempty"`
}

// NotEvaluable defines what happens to a gate whose figure cannot be measured.
//
// +kubebuilder:validation:Enum=Refuse;Report
type NotEvaluable string

// The values of NotEvaluable.
const (
	NotEvaluableRefuse NotEvaluable = "Refuse"
	NotEvaluableReport NotEvaluable = "Report"
)

// GateExpression is a gate as an expression over the trial's record.
type GateExpression struct {
	// name of the gate, shown where it fails.
	// +required
	Name Name `json:"name,omitempty"`
	// expression is CEL that must be true for a trial to be Measured. Its variable trial is the record, with the names
	// of docs/gates.md, such as trial.nodes.all(n, n.ioWaitPercent < 10).
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Expression string `json:"expression,omitempty"`
	// message says what is wrong if the expression is false. Unset: the expression itself.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
}
