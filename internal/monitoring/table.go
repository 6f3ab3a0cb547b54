// Package monitoring holds the table of the manager's metrics, the alerts and the dashboard. The registration of the metrics,
// docs/metrics.md and the generated files of config/prometheus are made from this package.
//
// To add a metric, append an entry to the table, and use it in controllers/metrics. Every label has a bounded number of values,
// or its series are deleted with the campaign. A label never holds a text of a user that is not the name of an object.
package monitoring

// Type is the type of a metric.
type Type string

// Values of Type. A Histogram has the series NAME_bucket, NAME_sum and NAME_count.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Metric is an entry of the table of metrics.
type Metric struct {
	Name    string
	Type    Type
	Labels  []string
	Help    string
	Buckets []float64 // upper bounds of a Histogram
}

// The names of labels.
const (
	LabelNamespace = "namespace"
	LabelCampaign  = "campaign"
	LabelVariant   = "variant"
	LabelTopology  = "topology"
	LabelUnit      = "unit"
	LabelState     = "state"
	LabelReason    = "reason"
	LabelPhase     = "phase"
	LabelVerdict   = "verdict"
)

// ofCampaign are the labels of a metric that has one series for each campaign.
var ofCampaign = []string{LabelNamespace, LabelCampaign}

// The metrics that the manager computes from the objects of its cache, whenever it is scraped.
var (
	Campaigns = Metric{
		Name: "knee_campaigns", Type: Gauge, Labels: []string{LabelState, LabelReason},
		Help: "Campaigns, by state and by the reason of the condition Ready.",
	}
	CampaignInfo = Metric{
		Name: "knee_campaign_info", Type: Gauge, Labels: append(ofCampaign[:2:2], LabelState, LabelReason),
		Help: "Always 1. The labels have the state of a campaign and the reason of its condition Ready.",
	}
	TrialsPlanned = Metric{
		Name: "knee_campaign_trials_planned", Type: Gauge, Labels: ofCampaign,
		Help: "Trials of a campaign, as far as they are known, without Warmups.",
	}
	TrialsDone = Metric{
		Name: "knee_campaign_trials_done", Type: Gauge, Labels: ofCampaign,
		Help: "Planned trials of a campaign that are done.",
	}
	TrialsFailed = Metric{
		Name: "knee_campaign_trials_failed", Type: Gauge, Labels: ofCampaign,
		Help: "Done trials of a campaign that have no valid measurement.",
	}
	Nodes = Metric{
		Name: "knee_campaign_nodes", Type: Gauge, Labels: append(ofCampaign[:2:2], LabelState),
		Help: "OpenSearch nodes that Knee has provisioned for a campaign. The sum over the states is the number of provisioned nodes.",
	}
	NodeSeconds = Metric{
		Name: "knee_node_seconds_total", Type: Counter, Labels: []string{LabelState},
		Help: "Time for which OpenSearch nodes were provisioned, summed over the nodes of all campaigns. The sum over the states is the provisioned time.",
	}
	LongestWait = Metric{
		Name: "knee_queue_longest_wait_seconds", Type: Gauge,
		Help: "Longest time for which a campaign that is Queued now has waited for its turn. 0 if no campaign waits.",
	}
	Throughput = Metric{
		Name: "knee_cell_throughput", Type: Gauge, Labels: append(ofCampaign[:2:2], LabelVariant, LabelTopology, LabelUnit),
		Help: "Throughput of the last finished trial of a cell, in the unit of the label, while the campaign is InProgress. Without Warmups. Absent if the last attempt has no valid measurement.",
	}
	ReportBytes = Metric{
		Name: "knee_campaign_report_bytes", Type: Gauge, Labels: ofCampaign,
		Help: "Size of the files of a campaign's report in ConfigMaps.",
	}
	RecordBytes = Metric{
		Name: "knee_record_bytes", Type: Gauge,
		Help: "Size of all records in ConfigMaps, including records that outlive their campaign.",
	}
	Records = Metric{
		Name: "knee_records", Type: Gauge,
		Help: "Records, including records that outlive their campaign.",
	}
)

// The metrics that the manager counts when something happens.
var (
	Attempts = Metric{
		Name: "knee_attempts_total", Type: Counter, Labels: []string{LabelPhase, LabelVerdict},
		Help: "Attempts at trials whose record the manager created, by the verdict at this time. A gate that is changed later may change the verdict of the report.",
	}
	Retries = Metric{
		Name: "knee_retries_total", Type: Counter, Labels: []string{LabelReason},
		Help: "Attempts that followed an earlier attempt at the same trial, by the reason why the earlier attempt had no valid measurement. Counted when the record of the later attempt is created.",
	}
	TrialDuration = Metric{
		Name: "knee_trial_duration_seconds", Type: Histogram, Labels: []string{LabelPhase},
		Help:    "Time from the creation of a trial's Job to the end of the Job, by the clock of the control plane.",
		Buckets: []float64{15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800},
	}
	TrialGap = Metric{
		Name: "knee_trial_gap_seconds", Type: Histogram,
		Help:    "Time between two trials of a cell on the same OpenSearch processes: from the end of an agent to the start of the next agent. The wait until OpenSearch has settled is part of a trial.",
		Buckets: []float64{1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 1800},
	}
	QueueWait = Metric{
		Name: "knee_queue_wait_seconds", Type: Histogram,
		Help:    "Time for which campaigns were Queued until they had their turn.",
		Buckets: []float64{10, 60, 300, 900, 1800, 3600, 7200, 14400, 28800, 86400, 172800},
	}
)

// Observed returns the metrics that are computed at each scrape.
func Observed() []Metric {
	return []Metric{
		Campaigns, CampaignInfo, TrialsPlanned, TrialsDone, TrialsFailed, Nodes, NodeSeconds, LongestWait, Throughput,
		ReportBytes, RecordBytes, Records,
	}
}

// Counted returns the metrics that are counted when something happens.
func Counted() []Metric { return []Metric{Attempts, Retries, TrialDuration, TrialGap, QueueWait} }
