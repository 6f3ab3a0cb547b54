package monitoring

import "fmt"

// Dashboard is a dashboard in the JSON model of Grafana.
type Dashboard struct {
	UID           string     `json:"uid"`
	Title         string     `json:"title"`
	Description   string     `json:"description"`
	Tags          []string   `json:"tags"`
	SchemaVersion int        `json:"schemaVersion"`
	Editable      bool       `json:"editable"`
	Refresh       string     `json:"refresh"`
	Time          timeRange  `json:"time"`
	Templating    templating `json:"templating"`
	Panels        []Panel    `json:"panels"`
}

// Panel is a panel of a Dashboard.
type Panel struct {
	ID          int         `json:"id"`
	Type        string      `json:"type"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	GridPos     gridPos     `json:"gridPos"`
	Datasource  datasource  `json:"datasource"`
	Targets     []Target    `json:"targets"`
	FieldConfig fieldConfig `json:"fieldConfig"`
}

// Target is a query of a Panel.
type Target struct {
	RefID        string     `json:"refId"`
	Datasource   datasource `json:"datasource"`
	Expr         string     `json:"expr"`
	LegendFormat string     `json:"legendFormat,omitempty"`
	Instant      bool       `json:"instant,omitempty"`
	Format       string     `json:"format,omitempty"`
}

type (
	timeRange struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	templating struct {
		List []variable `json:"list"`
	}
	variable struct {
		Name       string      `json:"name"`
		Label      string      `json:"label"`
		Type       string      `json:"type"`
		Query      string      `json:"query"`
		Datasource *datasource `json:"datasource,omitempty"`
		Multi      bool        `json:"multi,omitempty"`
		IncludeAll bool        `json:"includeAll,omitempty"`
		AllValue   string      `json:"allValue,omitempty"`
		Refresh    int         `json:"refresh,omitempty"` // 2: whenever the time range changes
	}
	gridPos struct {
		H int `json:"h"`
		W int `json:"w"`
		X int `json:"x"`
		Y int `json:"y"`
	}
	datasource struct {
		Type string `json:"type"`
		UID  string `json:"uid"`
	}
	fieldConfig struct {
		Defaults fieldDefaults `json:"defaults"`
	}
	fieldDefaults struct {
		Unit string   `json:"unit,omitempty"`
		Min  *float64 `json:"min,omitempty"`
	}
)

var prometheus = datasource{Type: "prometheus", UID: "${datasource}"}

// selected matches the campaigns that the dashboard's variables select.
const selected = `namespace=~"$namespace", campaign=~"$campaign"`

const (
	timeSeries = "timeseries"
	table      = "table"
	stat       = "stat"
)

// query is a query in the list of panels below.
type query struct{ expr, legend string }

// panels lists the panels in their order on the dashboard, two in a row.
var panels = []struct {
	kind, title, help, unit string
	queries                 []query
}{
	{stat, "Campaigns by state", "Suspended and Stalled campaigns may still hold nodes.", "none", []query{
		{"sum by (state) (" + Campaigns.Name + ")", "{{state}}"},
	}},
	{table, "Campaigns", "The state of each campaign, and the reason of its condition Ready.", "none", []query{
		{"sum by (namespace, campaign, state, reason) (" + CampaignInfo.Name + "{" + selected + "})", ""},
	}},
	{timeSeries, "Progress", "Share of the planned trials that are done. It falls if a result requires more trials.", "percentunit", []query{
		{"sum by (namespace, campaign) (" + TrialsDone.Name + "{" + selected + "}) / sum by (namespace, campaign) (" + TrialsPlanned.Name + "{" + selected + "})", "{{namespace}}/{{campaign}}"},
	}},
	{timeSeries, "Trials without a valid measurement", "Trials that failed after all retries.", "none", []query{
		{"sum by (namespace, campaign) (" + TrialsFailed.Name + "{" + selected + "})", "{{namespace}}/{{campaign}}"},
	}},
	{timeSeries, "Throughput of the last trial", "One line for each cell. A line moves when a trial ends: the manager does not know the throughput of a running trial.", "none", []query{
		{"sum by (namespace, campaign, variant, topology, unit) (" + Throughput.Name + "{" + selected + "})", "{{campaign}} {{variant}}/{{topology}} {{unit}}"},
	}},
	{timeSeries, "Nodes", "Provisioned OpenSearch nodes.", "none", []query{
		{"sum by (state) (" + Nodes.Name + "{" + selected + "})", "{{state}}"},
	}},
	{timeSeries, "Use of the provisioned nodes", "Share of the provisioned node-seconds of all campaigns.", "percentunit", []query{
		{"sum by (state) (rate(" + NodeSeconds.Name + "[$__rate_interval])) / scalar(sum(rate(" + NodeSeconds.Name + "[$__rate_interval])))", "{{state}}"},
	}},
	{stat, "Node-hours in the time range", "Of all campaigns.", "h", []query{
		{"sum by (state) (increase(" + NodeSeconds.Name + "[$__range])) / 3600", "{{state}}"},
		{"sum(increase(" + NodeSeconds.Name + "[$__range])) / 3600", "provisioned"},
	}},
	{timeSeries, "Attempts per hour, by verdict", "Without Warmups.", "none", []query{
		{"3600 * sum by (verdict) (rate(" + Attempts.Name + `{phase!="Warmup"}[$__rate_interval]))`, "{{verdict}}"},
	}},
	{timeSeries, "Retries per hour, by reason", "Reasons without a retry in the time range are left out.", "none", []query{
		{"3600 * sum by (reason) (rate(" + Retries.Name + "[$__rate_interval])) and sum by (reason) (increase(" + Retries.Name + "[$__range])) > 0", "{{reason}}"},
	}},
	{timeSeries, "Duration of trials", "Quantiles over the time range, by phase.", "s", []query{
		{"histogram_quantile(0.5, sum by (le, phase) (increase(" + TrialDuration.Name + "_bucket[$__range])))", "{{phase}} median"},
		{"histogram_quantile(0.9, sum by (le, phase) (increase(" + TrialDuration.Name + "_bucket[$__range])))", "{{phase}} 90 %"},
	}},
	{timeSeries, "Gap between trials", "Time between two trials on the same OpenSearch processes, over the time range.", "s", []query{
		{"histogram_quantile(0.5, sum by (le) (increase(" + TrialGap.Name + "_bucket[$__range])))", "median"},
		{"histogram_quantile(0.9, sum by (le) (increase(" + TrialGap.Name + "_bucket[$__range])))", "90 %"},
	}},
	{timeSeries, "Queue", "Campaigns that wait for their turn.", "none", []query{
		{"sum(" + Campaigns.Name + `{reason="Queued"})`, "Queued campaigns"},
	}},
	{timeSeries, "Wait in the queue", "The longest wait of a campaign that is Queued now, and the median of the waits that ended in the time range.", "s", []query{
		{"max(" + LongestWait.Name + ")", "longest"},
		{"histogram_quantile(0.5, sum by (le) (increase(" + QueueWait.Name + "_bucket[$__range])))", "median"},
	}},
	{timeSeries, "Size of reports", "Files of the report of each campaign.", "bytes", []query{
		{"sum by (namespace, campaign) (" + ReportBytes.Name + "{" + selected + "})", "{{namespace}}/{{campaign}}"},
	}},
	{timeSeries, "Records", "Records and their size, of all campaigns.", "bytes", []query{
		{"sum(" + RecordBytes.Name + ")", "size"},
		{"sum(" + RecordBytes.Name + ") / sum(" + Records.Name + ")", "mean size of a record"},
	}},
}

// NewDashboard returns Knee's dashboard.
func NewDashboard() Dashboard {
	ofLabel := func(name, label, query string) variable {
		return variable{Name: name, Label: label, Type: "query", Query: query, Datasource: &prometheus, Multi: true, IncludeAll: true, AllValue: ".*", Refresh: 2}
	}
	out := Dashboard{
		UID: "knee-campaigns", Title: "Knee campaigns", Tags: []string{"knee"}, SchemaVersion: 39, Editable: true, Refresh: "30s",
		Description: "Benchmark campaigns: progress, nodes, trials, queue. docs/metrics.md explains the metrics.",
		Time:        timeRange{From: "now-6h", To: "now"},
		Templating: templating{List: []variable{
			{Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus"},
			ofLabel("namespace", "Namespace", "label_values("+CampaignInfo.Name+", namespace)"),
			ofLabel("campaign", "Campaign", "label_values("+CampaignInfo.Name+`{namespace=~"$namespace"}, campaign)`),
		}},
	}
	const width, height = 12, 8 // a dashboard has 24 columns
	zero := 0.0
	for i, p := range panels {
		panel := Panel{
			ID: i + 1, Type: p.kind, Title: p.title, Description: p.help, Datasource: prometheus,
			GridPos:     gridPos{H: height, W: width, X: i % 2 * width, Y: i / 2 * height},
			FieldConfig: fieldConfig{Defaults: fieldDefaults{Unit: p.unit, Min: &zero}},
		}
		for n, q := range p.queries {
			target := Target{RefID: fmt.Sprintf("%c", 'A'+n), Datasource: prometheus, Expr: q.expr, LegendFormat: q.legend, Instant: p.kind != timeSeries}
			if p.kind == table {
				target.Format = "table"
			}
			panel.Targets = append(panel.Targets, target)
		}
		out.Panels = append(out.Panels, panel)
	}
	return out
}
