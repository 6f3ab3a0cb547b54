// Package sample selects the faults that a test injects, and reports their numbers to make test.
package sample

import (
	"flag"
	"os"
	"regexp"
	"testing"
)

// pointsFile is the name of an environment variable that contains the start of a path. Tests write the numbers of faults to files there,
// because `go test` prints no log of tests that pass.
const pointsFile = "KNEE_FAULT_POINTS"

// Sample selects faults by the flags -faults.only and -faults.share.
type Sample struct {
	only  *string
	Share *int // one in this number of faults is injected
}

// New defines the flags. By default, one in share faults is injected.
func New(share int) Sample {
	return Sample{
		only:  flag.String("faults.only", "", "inject all faults that match this regular expression, whatever -faults.share is"),
		Share: flag.Int("faults.share", share, "inject one in this number of faults; 1: all"),
	}
}

// IsOnly reports whether -faults.only is set, for debugging.
func (s Sample) IsOnly() bool { return *s.only != "" }

// Selector returns a function that reports whether the test injects the n-th fault of a campaign.
func (s Sample) Selector() func(n int, fault string) bool {
	matches := regexp.MustCompile(*s.only)
	return func(n int, fault string) bool {
		if s.IsOnly() {
			return matches.MatchString(fault)
		}
		return n%*s.Share == 0
	}
}

// Report writes the numbers of faults of a test that passed. The name is the end of the file's name.
func (s Sample) Report(t *testing.T, name, text string) {
	t.Helper()
	path := os.Getenv(pointsFile)
	if path == "" || s.IsOnly() || t.Failed() {
		return
	}
	if err := os.WriteFile(path+"-"+name, []byte(text+"\n"), 0o600); err != nil {
		t.Error(err)
	}
}
