package controllers

import (
	"cmp"
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/apply"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/gates"
)

// reportCollected logs and counts the attempts whose records were created. earlier are the records that the campaign had before.
func (r *CampaignReconciler) reportCollected(ctx context.Context, c *v1alpha1.BenchmarkCampaign, p plan.Plan, earlier, collected []record.Record) {
	for _, rec := range collected {
		judgement := gates.JudgeFor(c.Spec, rec)
		values := append(apply.LogValues(cellName(p, rec.Attempt.Cell), rec.Attempt), "verdict", judgement.Verdict)
		if len(judgement.Failures) > 0 {
			values = append(values, "reason", cmp.Or(judgement.Failures[0].Reason, judgement.Failures[0].Gate))
		}
		log.FromContext(ctx).Info("created the record of an attempt", values...)
		r.Metrics.RecordCollected(c.Spec, p, earlier, rec, judgement.Verdict)
	}
}

// cellName returns the name of a cell by its hash. It is empty if the cell is no longer in the plan.
func cellName(p plan.Plan, hash string) string {
	for _, cell := range p.Cells {
		if cell.Hash == hash {
			return cell.Name
		}
	}
	return ""
}
