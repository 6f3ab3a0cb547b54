// Package decide says what to do next, given what a campaign asks for and what there is. It is pure: the same
// world at the same time gives the same decision, and it keeps no memory of its own.
package decide

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// World is what was observed of one campaign's objects.
type World struct {
	Jobs      map[string]Job        // by name
	Clusters  map[string]Cluster    // by cell name; only those that exist
	Recorded  map[record.Trial]bool // the attempts that have a record
	Records   []Record              // the objects that hold them, those of earlier cells too
	Suspended bool                  // nothing new starts

	Self   Claimant   // this campaign, as the others see it
	Rivals []Claimant // the other campaigns that want or hold nodes, of every namespace that the manager sees
}

// Claimant is a campaign as those see it that may have to share nodes with it. Of two that may share a node, one that
// holds nodes comes before one that does not, else the older one, else that of the smaller UID: a total order, so that
// no two wait for each other.
type Claimant struct {
	Campaign types.NamespacedName
	UID      types.UID
	Created  time.Time
	Wants    []plan.Pool // of the cells that it has yet to measure; none when it is over, suspended, invalid or deleted
	Holds    []plan.Pool // of the OpenSearch pods that are there, terminating ones too
	Reason   string      // of its Ready condition, for the message of who waits for it
}

// Record is the object that holds an attempt's record.
type Record struct {
	Name    string
	UID     types.UID
	Attempt record.Trial
	Made    time.Time // by the clock of the API server: a loader's may be wrong, and a record that cannot be read tells no time
}

// Job is one attempt's Job.
type Job struct {
	Name    string
	Cell    string // the cell's name
	JVM     string // of the Cluster when the Job was made
	Attempt record.Trial
	State   JobState
	Created time.Time
	Started bool    // the loader's container runs, or ran
	Problem Problem // what keeps its pod from starting, when something does

	Ending time.Time // since when the Job, or a pod of it, should be gone; zero: neither is being deleted
	Left   string    // what of it is being deleted, for people
}

// JobState is how far a Job is.
type JobState string

// The states of a Job.
const (
	JobLive     JobState = "Live"     // may still change
	JobFinished JobState = "Finished" // complete or failed, and no pod of it is still terminating
	JobDeleting JobState = "Deleting" // neither live nor finished: wait
)

// Cluster is a cell's OpenSearch.
type Cluster struct {
	Name      string // the cell's name
	JVM       string // identifies the processes that run: another one needs a Warmup trial
	Deleting  bool
	Made      bool              // its StatefulSet is there: without it only remains, or a beginning, of the cell are
	Placement int32             // that it was made for, as trials name it
	Images    map[string]string // digest of OpenSearch's image, by pod, where its status says
	Replicas  int32             // asked for
	Ready     int32             // pods ready, of the replicas asked for
	Pods      int               // pods that exist, terminating ones too
	Since     time.Time         // since when it has been asked to run, or one of its pods has not been ready
	Problem   Problem           // what keeps it from being ready, when its pods say so
	Left      string            // what of it is being deleted, for people
}

// Problem is what the cluster says of a pod that does not come up.
type Problem struct {
	Reason   string // a reason of the Ready condition
	Message  string // in the words of the object that complains, its name first
	Definite bool   // waiting will not help: said at once, not when the deadline has passed

	Again time.Time // ask again then: it may have been mended without an event; zero: an event will tell
}

// ActionKind is what an action does.
type ActionKind string

// The actions, each small and safe to repeat.
const (
	StartCluster  ActionKind = "StartCluster"  // create the cell's objects, or scale them up
	StopCluster   ActionKind = "StopCluster"   // scale the cell's nodes to none; volumes are kept
	DeleteCluster ActionKind = "DeleteCluster" // delete the cell's objects, volumes and Jobs
	StartTrial    ActionKind = "StartTrial"    // create the attempt's Job
	Collect       ActionKind = "Collect"       // make the record of a finished Job
	DeleteRecords ActionKind = "DeleteRecords" // delete records of what the spec no longer asks for
)

// Action is one thing to do.
type Action struct {
	Kind    ActionKind
	Cell    string            // the cell's name
	Attempt record.Trial      // of StartTrial and Collect
	JVM     string            // of StartTrial
	Images  map[string]string // of StartTrial: digest of OpenSearch's image, by pod
	Job     string            // of Collect
	Jobs    int               // of the cell, as they were seen: a StartTrial or StopCluster that rests on fewer is not done

	Placement int32    // of StartCluster, as trials name it
	Avoid     []string // of StartCluster: hosts of earlier placements, to keep off where the pool allows
	KeepCache bool     // of DeleteCluster: the loader's downloads are for the cluster that follows
	Records   []Record // of DeleteRecords; of a StartTrial that no start of a cluster comes before: those that were seen
}

// Decision is what to do now, and what to say of it.
type Decision struct {
	Actions []Action
	WakeAt  time.Time         // look again then, even if nothing happens; zero: no need
	Phases  map[string]string // by cell name: Pending, Provisioning, Warmup, Sweep, Final, OpenLoop, Done
	Running []string          // what runs now, for people
	Waiting []string          // what is waited for and why, for people
	Kept    []string          // cells whose nodes are kept although nothing may start on them
	Stalled *Problem          // a person has to act
	Queued  string            // whom the campaign waits for and why, for people; empty when for nobody
	Over    bool              // all trials are done and nothing is left to clean up
}
