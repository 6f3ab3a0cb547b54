package main

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// TestBundle_invalidCampaign_fails checks that the campaign of a bundle is validated against the CRD before it is used: a bundle
// may come from an unknown source.
func TestBundle_invalidCampaign_fails(t *testing.T) {
	for message, change := range map[string]func(*v1alpha1.BenchmarkCampaign){
		"spec.final.repetitions": func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Final.Repetitions = new(int32(2_000_000_000)) },
		"spec.variants[1].name":  func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Variants[1].Name = "\x1b]0;evil\a" },
		"spec.sweep.clients":     func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Sweep.Clients = []int32{-1, 4} },
		"metadata.name":          func(c *v1alpha1.BenchmarkCampaign) { c.Name = "\x1b[2J" },
	} {
		b := study(t, nil, campaigntest.StudyRecord)
		change(b.Campaign)
		path := bundled(t, "foreign.tar.gz", b)
		for _, args := range [][]string{{"report", "--from-bundle", path}, {"report", "--from-bundle", path, "--verify"}, {"analyze", "-f", path}, {"compare", path, path}} {
			r := knee(t, "", args...)
			if r.code != exitUsage || !strings.Contains(r.err, message) || !strings.Contains(r.err, path) || strings.ContainsAny(r.out+r.err, "\x1b\a") {
				t.Errorf("%s of %s: exit code %d, %q, %q on standard output", args[0], message, r.code, r.err, r.out)
			}
		}
	}
}

// TestBundle_controlCharacters_areNotPrinted checks that control characters in a record do not reach the terminal.
func TestBundle_controlCharacters_areNotPrinted(t *testing.T) {
	path := bundled(t, "study.tar.gz", study(t, nil, func(trial record.Trial) record.Record {
		r := campaigntest.StudyRecord(trial)
		if r.Error != nil {
			r.Error.Message = "\x1b]52;c;evil\a\x1b[2Jit \u202efailed\r\x00"
		}
		if len(r.Nodes) > 0 {
			r.Nodes[0].Environment.Kernel, r.Settle.Note = "\x1b[31m6.8 of "+trial.Variant, "\x1b[1A rest\u009b2J"
		}
		return r
	}))
	for _, args := range [][]string{
		{"report", "--from-bundle", path}, {"compare", path, path}, {"analyze", "-f", path}, {"report", "--from-bundle", path, "--md"},
		{"report", "--from-bundle", path, "--csv", "results.csv"},
	} {
		if out := ok(t, args...); strings.ContainsAny(out, "\x1b\a\x00\r\u009b") {
			t.Errorf("%s prints what a terminal obeys: %q", args[0], out)
		}
	}
}
