package decide

import (
	"maps"
	"slices"
)

// Upkeep returns the actions that are due even if the spec of the campaign is invalid, so that no trial can be planned.
func Upkeep(w World) []Action {
	return append(deleteBudgets(w), endTrials(w)...)
}

// endTrials creates the records of attempts that have ended, so no measurement is lost. It ends the pods that still run although their
// attempt has a record. The actions are sorted by the names of the Jobs.
func endTrials(w World) []Action {
	var out []Action
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		job := w.Jobs[name]
		switch {
		case !w.Recorded[job.Attempt] && job.hasEnded():
			out = append(out, Action{Kind: Collect, Cell: job.Cell, Attempt: job.Attempt, Job: name, Ended: EndedJob{job.UID, job.Created, job.Ended}, Disrupted: job.Disrupted})
		case w.Recorded[job.Attempt] && job.isRunning() && !job.Stopping:
			out = append(out, Action{Kind: EndTrial, Cell: job.Cell, Attempt: job.Attempt, Job: name})
		}
	}
	return out
}

// hasEnded reports whether the attempt can give no other record. A disrupted attempt is not waited for: after the disruption,
// the pods that show it may be deleted at any time.
func (j Job) hasEnded() bool {
	return j.State == JobFinished || j.State == JobOver || j.State == JobLive && j.Disrupted != ""
}

// isRunning reports whether pods of the Job may still run.
func (j Job) isRunning() bool { return j.State == JobLive || j.State == JobOver }

// deleteBudgets deletes the PodDisruptionBudgets that protect no running trial.
func deleteBudgets(w World) []Action {
	unused := map[string][]Budget{}
	for _, b := range w.Budgets {
		if !w.protectsTrial(b) {
			unused[b.Cell] = append(unused[b.Cell], b)
		}
	}
	var out []Action
	for _, cell := range slices.Sorted(maps.Keys(unused)) {
		there, going := w.countJobs(cell)
		out = append(out, Action{Kind: DeleteBudgets, Cell: cell, Budgets: unused[cell], Jobs: there + going})
	}
	return out
}

// protectsTrial reports whether a PodDisruptionBudget protects pods of an attempt that has no record yet.
func (w World) protectsTrial(b Budget) bool {
	for name, job := range w.Jobs {
		if job.Cell == b.Cell && (b.Job == "" || b.Job == name) && job.State != JobDeleting && !w.Recorded[job.Attempt] {
			return true
		}
	}
	return false
}
