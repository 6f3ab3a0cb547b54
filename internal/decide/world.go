// Package decide decides what to do next for a campaign, given its spec and the objects that exist. It is pure: the same world
// at the same time gives the same decision, and no state is kept between decisions.
package decide

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// World holds what was observed of one campaign's objects.
type World struct {
	Jobs      map[string]Job          // by name of the Job
	Clusters  map[string]Cluster      // existing clusters, by name of the cell
	Budgets   []Budget                // the PodDisruptionBudgets of running and of ended trials
	Recorded  map[record.Attempt]bool // the attempts that have a record
	Records   []Record                // the ConfigMaps of all records, including records of earlier cells
	Suspended bool                    // true: no new trial or node may start

	Self     Claimant   // this campaign, in the form in which other campaigns compare themselves with it
	Rivals   []Claimant // the other campaigns that want or hold nodes, of every namespace that the manager watches
	Services []Service  // when campaigns of the namespaces last had nodes

	// The facts below were written to the status by an earlier decision, for the present generation of the spec.

	StalledSince time.Time // since when the campaign has been Stalled; zero: it is not Stalled
	ActiveSince  time.Time // when the campaign became active, see Decision; zero: it is not active
	FinishedWith int       // number of readable records when the campaign was finished; 0: it was not finished
}

// Claimant describes a campaign to another campaign that may use the same nodes. See queue for the order of claimants.
type Claimant struct {
	Campaign types.NamespacedName
	UID      types.UID
	Created  time.Time
	Since    time.Time   // since when the campaign is active, see Decision.ActiveSince; zero: it is not active
	Yielded  time.Time   // when the campaign gave up its turn; zero: it did not, or its turn came again
	Stalled  bool        // the campaign cannot continue without a user
	Releases bool        // the campaign is suspended, and releases its nodes when its trials end
	Wants    []plan.Pool // pools of all cells; none if the campaign is over, suspended, invalid or deleted
	Holds    []plan.Pool // pools of the existing OpenSearch pods, including terminating ones
	Reason   string      // reason of the campaign's Ready condition

	Unmeasured []plan.Pool // those of Wants that cells need which are not measured yet, as far as the status shows
}

// Service is a time at which a campaign of a namespace began or ended to use nodes or an endpoint.
type Service struct {
	Namespace string
	Pools     []plan.Pool
	At        time.Time
}

// Record is the object that holds an attempt's record.
type Record struct {
	Name    string
	UID     types.UID
	Attempt record.Attempt
	Made    time.Time // creation time by the clock of the API server: a loader's clock may be wrong, and an unreadable record has no time
}

// EndedJob holds the facts about a Job that its record needs. Times are of the control plane's clock.
type EndedJob struct {
	UID            types.UID
	Created, Ended time.Time
}

// Job is one attempt's Job.
type Job struct {
	Name    string
	UID     types.UID
	Cell    string // name of the cell
	JVM     string // JVM of the Cluster at the time when the Job was created
	Attempt record.Attempt
	State   JobState
	Created time.Time
	Ended   time.Time // when the Job became complete or failed; zero: it has not ended
	Started bool      // the loader's container runs or has run
	Problem Problem   // what keeps the Job's pods from starting; zero: nothing, as far as is known

	Disrupted string // why Kubernetes ended a pod that the trial needs, as text for users; empty: no such pod is known
	Stopping  bool   // Kubernetes ends the Job's pods, because Knee requested it

	Ending time.Time // when the Job or one of its pods should have been deleted; zero: neither the Job nor a pod is being deleted
	Left   string    // the objects of the Job that are being deleted, as text for users
}

// JobState is the progress of a Job.
type JobState string

// The states of a Job.
const (
	JobLive     JobState = "Live"     // may still change
	JobOver     JobState = "Over"     // the trial's container has terminated in all pods, but other containers of the pods still run
	JobFinished JobState = "Finished" // complete or failed, and all of its pods have terminated
	JobDeleting JobState = "Deleting" // the Job is being deleted: wait
)

// Budget is a PodDisruptionBudget, which protects pods while a trial runs.
type Budget struct {
	Name string
	UID  types.UID
	Cell string // name of the cell
	Job  string // name of the Job whose pods it protects; empty: it protects the cell's OpenSearch
}

// Cluster is a cell's OpenSearch.
type Cluster struct {
	Name      string // name of the cell
	JVM       string // identifies the running processes; a new value means that a Warmup trial is needed
	Deleting  bool
	Made      bool              // the StatefulSet or OpenSearchCluster exists; false: only other objects of the cell exist
	Placement record.Placement  // the placement for which the cluster was created
	Images    map[string]string // digest of OpenSearch's image by name of the pod, if the pod's status contains the digest
	Replicas  int32             // requested pods
	Ready     int32             // ready pods, out of Replicas
	Pods      int               // existing pods, including terminating ones
	Since     time.Time         // start of a wait: latest time of a scaling, loss of readiness, deletion, or end of a trial
	Problem   Problem           // what keeps the cluster from being ready, if its pods show it
	Left      string            // the objects of the cluster that are being deleted, as text for users
}

// Problem is the reason why a pod does not start, as an object of the API server reports it.
type Problem struct {
	Reason   string // a reason of the Ready condition
	Message  string // name of the object that reports the problem, and the message that the object reports
	Definite bool   // waiting cannot help, so the problem is reported now, not after the deadline

	Again time.Time // when to check again, because the problem may be solved without an event; zero: an event will follow
}

// ActionKind is the kind of an Action.
type ActionKind string

// The actions. Each action is small and safe to repeat.
const (
	StartCluster  ActionKind = "StartCluster"  // create the cell's objects, or scale the existing cluster up
	StopCluster   ActionKind = "StopCluster"   // scale the cell's cluster to zero nodes and keep its volumes; an OpenSearchCluster is deleted with its volumes
	DeleteCluster ActionKind = "DeleteCluster" // delete the cell's objects, volumes and Jobs
	StartTrial    ActionKind = "StartTrial"    // create the attempt's Job
	DeleteJob     ActionKind = "DeleteJob"     // delete the Job of an attempt that cannot end, without a record
	Collect       ActionKind = "Collect"       // create the record of an attempt that has ended
	EndTrial      ActionKind = "EndTrial"      // end the pods of a Job whose attempt has a record
	DeleteBudgets ActionKind = "DeleteBudgets" // delete PodDisruptionBudgets of trials that have ended
	DeleteRecords ActionKind = "DeleteRecords" // delete records of cells that the spec no longer has
)

// Action is one change that package apply makes.
type Action struct {
	Kind    ActionKind
	Cell    string            // name of the cell
	Attempt record.Attempt    // for StartTrial and Collect
	JVM     string            // for StartTrial
	Images  map[string]string // for StartTrial: digest of OpenSearch's image, by name of the pod
	Job     string            // for Collect, EndTrial and DeleteJob
	Ended   EndedJob          // for Collect
	Jobs    int               // number of the cell's Jobs at the time of the decision; StartTrial, StopCluster and DeleteBudgets do nothing if the number has changed

	Disrupted string // for Collect: Disrupted of the Job

	PlannedRepetitions int32 // for StartTrial of a Final: repetitions on each placement that the campaign requires now

	Placement record.Placement // for StartCluster
	Avoid     []string         // for StartCluster: hosts of earlier placements, avoided if the pool allows it
	KeepCache bool             // for DeleteCluster: keep the loader's downloads for the cell's next cluster
	Budgets   []Budget         // for DeleteBudgets
	Records   []Record         // for DeleteRecords: the records to delete; for StartTrial at an endpoint: the records that the cache contained
}

// Decision holds the next actions, and what the status reports about them.
type Decision struct {
	Actions []Action
	WakeAt  time.Time         // when to decide again, even without an event; zero: no such time
	Phases  map[string]string // by cell name: Pending, Provisioning, Warmup, Sweep, Anchor, Final, OpenLoop, Done
	Running []string          // what runs now, as text for users
	Waiting []string          // what the campaign waits for and why, as text for users
	Kept    []string          // cells whose nodes are kept although no trial may start on them
	Stalled *Problem          // a problem that a user has to solve
	Queued  string            // the campaigns that this campaign waits for and the reasons, as text for users; empty: none
	Over    bool              // all trials are done, and no object remains to be deleted

	// The facts below are for the next decision, see World.

	ActiveSince time.Time // when the campaign got its first nodes or started its first trial; zero: it is not active
	Yielded     time.Time // when the campaign gave up its turn; zero: it has its turn, or queues from its creation
	YieldAt     time.Time // when the campaign gives up its turn if it is still Stalled then; zero: no other campaign would start
}
