package driver

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/record"
)

func TestRunID(t *testing.T) {
	s := &Session{Config: record.Config{Attempt: record.Attempt{Trial: record.Trial{Cell: "0123abcd", Phase: record.Final, Clients: 16, Repetition: 3, Placement: 1}, N: 2}}}
	if got := s.RunID("-search"); got != "knee-0123abcd-final-c16-r3-a2-search" || strings.ContainsAny(got, string(filepath.Separator)) {
		t.Errorf("%s", got)
	}
}
