package report_test

import (
	"testing"

	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// BenchmarkStudy measures the work of a reconcile that changes nothing.
func BenchmarkStudy(b *testing.B) {
	c := campaigntest.StudyCampaign()
	records := finished(c, campaigntest.StudyRecord).Records
	for b.Loop() {
		in := input(c, records)
		report.Pack(report.Files(in))
		summary.Status(in)
	}
}

// BenchmarkHTML measures only the HTML page, for the study and for the largest campaign.
func BenchmarkHTML(b *testing.B) {
	study := finished(campaigntest.StudyCampaign(), campaigntest.StudyRecord)
	largest := largest()
	b.Run("study", func(b *testing.B) {
		for b.Loop() {
			report.HTML(study)
		}
	})
	b.Run("largest", func(b *testing.B) {
		for b.Loop() {
			report.HTML(largest)
		}
	})
}

// BenchmarkLargestFiles measures all report files of the largest campaign.
func BenchmarkLargestFiles(b *testing.B) {
	in := largest()
	for b.Loop() {
		report.Pack(report.Files(in))
	}
}
