package campaigntest

import (
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// Figure is a published point of a sweep. The CPU figures are in percent of all cores.
type Figure struct{ DocsPerSecond, User, Sys, IOWait float64 }

// StudyClients are the client counts of the study's sweep.
var StudyClients = []int32{12, 16, 20, 24, 32, 40, 48}

// Study holds the figures of a published study by variant and client count: OpenSearch 3.1.0 on arm64 and on amd64, nyc_taxis,
// bulk size 10,000, 6 primaries, 0 replicas. The Intel variant failed at 24 clients. No request was rejected.
var Study = map[string]map[int32]Figure{
	"arm": {
		12: {336527, 84.3, 4.1, 6.0},
		16: {345964, 83.9, 4.0, 6.3},
		20: {335456, 84.6, 4.1, 6.1},
		24: {341191, 85.4, 4.1, 5.7},
		32: {349156, 85.3, 4.1, 5.8},
		40: {342395, 85.5, 4.0, 5.7},
		48: {341377, 84.3, 4.0, 6.2},
	},
	"intel": {
		12: {239130, 88.9, 3.5, 4.5},
		16: {236746, 89.3, 3.5, 3.8},
		20: {242232, 89.9, 3.5, 3.5},
		32: {238201, 90.0, 3.5, 3.5},
		40: {232926, 89.5, 3.4, 3.6},
		48: {243044, 90.2, 3.5, 3.4},
	},
}

// StudyCampaign returns a campaign with the design of the study.
func StudyCampaign() *v1alpha1.BenchmarkCampaign {
	c := Campaign([]string{"intel", "arm"}, []string{"6p0r"}, StudyClients...)
	retries := int32(0)
	c.Spec.Retries = &retries
	return c
}

// StudyRecord returns the record of a trial with figures of the study. A sweep trial has the figures of its point. A Final has
// figures within 1 % of the point at its client count. One trial starts every 150 s.
func StudyRecord(t record.Trial) record.Record {
	clients := t.Clients
	order := int64(slices.Index(StudyClients, t.Clients)) + 1
	switch t.Phase {
	case record.Warmup:
		order = 0
		t.Clients = 16 // any point of the study, because the figures of a Warmup are discarded
	case record.Final:
		order = int64(len(StudyClients)) + int64(t.Repetition)
	}
	r := studyRecord(t)
	r.Attempt.Clients = clients
	shift := 150_000 * order
	r.StartedAt, r.FinishedAt = r.StartedAt+shift, r.FinishedAt+shift
	if r.Ingest != nil {
		r.Ingest.From, r.Ingest.To = r.Ingest.From+shift, r.Ingest.To+shift
	}
	return r
}

func studyRecord(t record.Trial) record.Record {
	f, found := Study[t.Variant][t.Clients]
	if !found {
		return Errored(t, record.ReasonDriverFailed, "opensearch-benchmark ended with exit code 64")
	}
	docs := f.DocsPerSecond
	if t.Phase == record.Final {
		docs *= []float64{1, 0.996, 1.004, 0.991}[(t.Repetition-1)%4]
	}
	r := Measured(t, docs)
	r.Nodes[0].CPU = &record.CPU{
		User: f.User, Sys: f.Sys, IOWait: f.IOWait, Idle: 100 - f.User - f.Sys - f.IOWait, Cores: 16,
	}
	if t.Variant == "arm" {
		r.Nodes[0].Environment.Arch, r.Nodes[0].Environment.CPUModel = "arm64", "Neoverse-V2"
	}
	return r
}
