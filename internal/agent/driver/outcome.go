package driver

import (
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// Outcome is the result of a load according to the driver's own figures.
type Outcome struct {
	Tasks  []record.Task // the tasks of the load; the first task is the ingest
	Warmup time.Duration // time since the start of the load that is excluded from the tasks' figures
	Output string        // the part of the program's output that explains a failure

	// The next fields are set only for a load that fills an index.
	Corpus        int64         // number of documents to send; 0: the load is timed, or the number is not known
	Timed         bool          // whether the load ends after a given time, not after a given number of documents
	BulkSize      int64         // documents per request; 0: not known
	Requests      int64         // number of bulk requests that were sent, including retries; 0: not counted
	DocumentBytes float64       // bytes of a document as sent; 0: not known
	FirstEnd      time.Duration // time from the start of the load until the first client had sent all its documents; 0: not known
	Accepted      *Accepted     // acknowledged documents; nil: the driver does not count them
	Failures      Failures

	ClientUtilization float64 // share of the clients' time spent waiting for the server; 0: not known

	// Errors that the driver's own figures show; nil: no error. Evidence.Check handles them one by one, because a change of
	// the cluster or of the index may be the cause.
	SetupError      error // the index was not created
	IncompleteError error // a task has no figures
	UnmeasuredError error // a task has no throughput; no error if the whole load was rejected

	Load *record.Load // figures of a load that fills no index; the trial sets From and To
}

// Accepted counts the documents that the server acknowledged.
type Accepted struct {
	Documents int64
	SentAgain int64 // documents sent again after an unclear answer; the index may contain them twice
}

// Failures counts the requests that were finally not accepted, or the documents if the driver counts documents.
type Failures struct {
	Rejected int64
	Other    int64
	Refused  int64    // documents refused with status 429 in any attempt, even if accepted later; 0: not counted
	Lines    []string // distinct error texts, rejections last
}
