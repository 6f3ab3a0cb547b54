package monitoring

// Alert is an alert of Prometheus. The expression of the alert is Value, followed by Condition.
type Alert struct {
	Name      string
	Value     string // the figure that is judged; it has a value whenever Knee runs a campaign
	Condition string // when the alert is pending, for example "> 0"
	For       string // how long the condition holds before the alert fires
	Summary   string // one sentence; may use $labels and $value
	Advice    string // what to do
}

// Expression returns the alert's expression in PromQL.
func (a Alert) Expression() string { return a.Value + " " + a.Condition }

const (
	byCampaign  = "sum by (namespace, campaign) "
	ofCampaigns = "campaign {{ $labels.campaign }} in namespace {{ $labels.namespace }}"
)

// Alerts returns the alerts.
func Alerts() []Alert {
	return []Alert{
		{
			Name:  "KneeCampaignStalled",
			Value: `sum by (namespace, campaign, reason) (` + CampaignInfo.Name + `{state="Stalled"})`, Condition: "> 0",
			For:     "15m",
			Summary: ofCampaigns + " is Stalled ({{ $labels.reason }})",
			Advice:  "The condition Ready of the campaign says what to do: kubectl describe benchmarkcampaign.",
		},
		{
			Name:  "KneeNodesIdle",
			Value: byCampaign + "(" + Nodes.Name + `{state="idle"})`, Condition: "> 0 and " + byCampaign + "(" + Nodes.Name + `{state!="idle"}) == 0`,
			For:     "30m",
			Summary: "{{ $value }} OpenSearch nodes of " + ofCampaigns + " have had no trial for 30 minutes",
			Advice:  "A campaign keeps its nodes while it is suspended, Stalled, or finished with spec.retain. Resume, fix or delete the campaign, or set spec.whenSuspended or spec.retain so that Knee releases the nodes.",
		},
		{
			Name:  "KneeManyRetries",
			Value: "sum by (reason) (increase(" + Retries.Name + "[2h]))", Condition: "> 5",
			For:     "5m",
			Summary: "{{ $value | humanize }} trials were repeated within 2 hours because of {{ $labels.reason }}",
			Advice:  "docs/trial-errors.md explains the reason. The report of the campaign quotes the program that reported the error.",
		},
		{
			Name:  "KneeQueueWaitsLong",
			Value: "max(" + LongestWait.Name + ")", Condition: "> 4 * 3600",
			For:     "5m",
			Summary: "a campaign has waited for its turn for {{ $value | humanizeDuration }}",
			Advice:  "The condition Ready of a Queued campaign names the campaigns that it waits for. Add Kubernetes nodes to the pool, or suspend or delete one of these campaigns.",
		},
		{
			Name:  "KneeMetricsAbsent",
			Value: "(count(" + Campaigns.Name + ") or vector(0))", Condition: "== 0",
			For:     "15m",
			Summary: "Prometheus has no metrics of Knee, so the other alerts of Knee cannot fire",
			Advice:  "Check that the manager runs and is the leader, and that Prometheus is bound to the ClusterRole knee-metrics-reader.",
		},
	}
}

// RuleFile is a file of rules as Prometheus and promtool read it. It is also the spec of a PrometheusRule.
type RuleFile struct {
	Groups []ruleGroup `json:"groups"`
}

type ruleGroup struct {
	Name  string `json:"name"`
	Rules []rule `json:"rules"`
}

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// Rules returns the alerts as a file of rules.
func Rules() RuleFile {
	group := ruleGroup{Name: "knee"}
	for _, a := range Alerts() {
		group.Rules = append(group.Rules, rule{
			Alert: a.Name, Expr: a.Expression(), For: a.For, Labels: map[string]string{"severity": "warning"},
			Annotations: map[string]string{"summary": a.Summary, "description": a.Advice},
		})
	}
	return RuleFile{Groups: []ruleGroup{group}}
}

// PrometheusRule is the custom resource of the prometheus-operator that holds the rules.
type PrometheusRule struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Metadata   ruleMetadata `json:"metadata"`
	Spec       RuleFile     `json:"spec"`
}

type ruleMetadata struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
}

// RuleObject returns the alerts as an object of the prometheus-operator.
func RuleObject() PrometheusRule {
	return PrometheusRule{
		APIVersion: "monitoring.coreos.com/v1", Kind: "PrometheusRule", Spec: Rules(),
		Metadata: ruleMetadata{Name: "knee", Namespace: "knee-system", Labels: map[string]string{
			"app.kubernetes.io/name": "knee", "app.kubernetes.io/component": "manager",
		}},
	}
}
