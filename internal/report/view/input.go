// Package view prepares the data that all reports show: the input, the points of a sweep, names and units.
package view

import (
	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// Input holds all data from which a report is made.
type Input struct {
	Name, Namespace string // name and namespace of the campaign
	Version         string // version of Knee that writes the report; empty if it is unknown
	Spec            v1alpha1.BenchmarkCampaignSpec
	Plan            plan.Plan
	Records         []record.Record // all records of the campaign
	Attempts        []Attempt       // records of the plan's trials with their verdicts, in the order of results.csv
	Assessment      campaign.Assessment
	Published       string // source of the figures if Knee did not measure them; else empty
}

// NewInput returns the input of a campaign's report. The input depends only on the campaign, its plan, its records and the
// version.
func NewInput(c *v1alpha1.BenchmarkCampaign, p plan.Plan, records []record.Record, version string) Input {
	in := Input{
		Name: c.Name, Namespace: c.Namespace, Version: version, Spec: c.Spec, Plan: p,
		Records: records, Assessment: campaign.Assess(p, c.Spec, records),
	}
	in.Attempts = attempts(in)
	return in
}

// Attempt is a record with its verdict.
type Attempt struct {
	Record    record.Record
	Judgement verdict.Judgement
}

// attempts returns the records of the plan's trials with their verdicts, in the order of Assessment.Attempts.
func attempts(in Input) []Attempt {
	var out []Attempt
	for _, j := range in.Assessment.Attempts {
		out = append(out, Attempt{j.Record, j.Judgement})
	}
	return out
}
