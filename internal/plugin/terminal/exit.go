package terminal

import "strings"

// The exit codes of kubectl knee. docs/kubectl-knee.md documents them. If several apply to one command, the highest is used.
const (
	ExitFailed       = 1 // the command failed or was interrupted
	ExitUsage        = 2 // wrong usage: flags, arguments, or a malformed or damaged file
	ExitStalled      = 3 // a user must act on a campaign
	ExitNotFinished  = 4 // a campaign is not finished, or not within the timeout
	ExitNotFound     = 5 // a campaign does not exist, or was deleted
	ExitInconclusive = 6 // a comparison shows neither a regression nor its absence
	ExitNotMeasured  = 7 // a comparison has no ratio, because a cell has no valid measurement
	ExitRegression   = 8 // a comparison shows a regression
)

// ExitError is an error with its own exit code.
type ExitError struct {
	Code int
	Err  error
}

// Error returns the text of the error.
func (e *ExitError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *ExitError) Unwrap() error { return e.Err }

// troubleshooting is the address of the page that explains the reasons of a campaign's conditions. Each reason is a heading.
const troubleshooting = "https://github.com/knee-bench/knee/blob/main/docs/troubleshooting.md"

// ReasonPage returns the address of the text that explains a reason of a condition.
func ReasonPage(reason string) string { return troubleshooting + "#" + strings.ToLower(reason) }
