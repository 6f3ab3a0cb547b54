package record

import (
	"errors"
	"fmt"
	"slices"
)

// Error describes why an attempt has no valid measurement.
type Error struct {
	Reason  string `json:"reason"`  // one of the Reason constants
	Message string `json:"message"` // for users: what was observed, quoting the program that reported it
}

// Errorf returns an *Error with a reason and a formatted message.
func Errorf(reason, format string, args ...any) error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Error implements the interface error.
func (e *Error) Error() string { return e.Reason + ": " + e.Message }

// ReasonOf returns the reason of the *Error that err wraps. It returns an empty text if err wraps no *Error.
func ReasonOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

// agentReasons are the reasons that an agent gives for a failed attempt.
var agentReasons = []string{ReasonPluginMissing, ReasonLoaderLost, ReasonClusterNotReady, ReasonIndexNotMade, ReasonSourceChanged, ReasonDriverFailed,
	ReasonDriverIncomplete, ReasonRequestsFailed, ReasonCountMismatch, ReasonCountersUnusable, ReasonClusterChanged, ReasonClockJumped, ReasonDriverHung,
	ReasonInterrupted, ReasonDeadline, ReasonAgentFailed}

// managerReasons are the reasons that only the manager gives.
var managerReasons = []string{ReasonPodFailed, ReasonRecordLost, ReasonDisrupted, ReasonRecordUnreadable}

// IsAgentReason reports whether an agent gives this reason for a failed attempt. The other reasons are given by the manager.
func IsAgentReason(reason string) bool { return slices.Contains(agentReasons, reason) }

// Reasons returns all reasons of an Error.
func Reasons() []string { return slices.Concat(agentReasons, managerReasons) }

// Reasons of an Error.
const (
	ReasonPluginMissing    = "PluginMissing"    // the cluster lacks a plugin that the load or the topology needs: never retried
	ReasonLoaderLost       = "LoaderLost"       // one of the trial's loader pods did not join, failed, or was too slow
	ReasonClusterNotReady  = "ClusterNotReady"  // the cluster was not green before the deadline
	ReasonIndexNotMade     = "IndexNotMade"     // the index could not be created, or differs from what the topology requires
	ReasonSourceChanged    = "SourceChanged"    // the content of a ConfigMap differs from the content in the cell's plan
	ReasonDriverFailed     = "DriverFailed"     // the driver's exit code was not 0
	ReasonDriverIncomplete = "DriverIncomplete" // the exit code was 0, but the task or its throughput is missing
	ReasonRequestsFailed   = "RequestsFailed"   // requests failed, and the rejection counters do not explain the failures
	ReasonCountMismatch    = "CountMismatch"    // documents are missing or too many
	ReasonCountersUnusable = "CountersUnusable" // a counter decreased or could not be read, or a shard failed
	ReasonClusterChanged   = "ClusterChanged"   // during the trial a node restarted, was replaced or was lost, a shard moved, the index was not green, or the cluster stopped answering
	ReasonClockJumped      = "ClockJumped"      // the loader's clock was changed during the load
	ReasonDriverHung       = "DriverHung"       // the driver showed no activity for too long
	ReasonInterrupted      = "Interrupted"      // something outside the trial ended the trial's pod
	ReasonDeadline         = "Deadline"         // the trial's deadline passed
	ReasonAgentFailed      = "AgentFailed"      // the agent itself failed
	ReasonPodFailed        = "PodFailed"        // the pod ended without a record, for example evicted, OOMKilled, or because its node was lost
	ReasonRecordLost       = "RecordLost"       // the pod was deleted before its record was collected; such an attempt does not count as a retry
	ReasonDisrupted        = "Disrupted"        // Kubernetes ended a pod that the trial needs: a drain, a preemption, a taint; such an attempt does not count as a retry
	ReasonRecordUnreadable = "RecordUnreadable" // the record is truncated, belongs to another attempt, or has an unknown version
)
