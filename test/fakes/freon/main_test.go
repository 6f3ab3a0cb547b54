package main

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/driver"
)

// What the stand-in prints is what the parser takes for freon's, and its figures hold together.
func TestTheSummaryIsFreons(t *testing.T) {
	for _, layout := range [][]string{nil, {"--terminal"}} {
		var out strings.Builder
		if err := run(append([]string{"ockrw", "-n", "200", "-t", "4", "--rate", "100"}, layout...), &out); err != nil {
			t.Fatal(err)
		}
		f, err := driver.ParseFreon(out.String())
		if err != nil || f.Count != 200 || f.Successes != 200 || f.Failures != 0 || f.Timer != "ockrw" {
			t.Fatalf("%+v, %v\n%s", f, err, out.String())
		}
		if busy := f.Concurrency(4).InFlight(); busy > 4.1 || busy < 1 { // of a busy machine's threads some end later than others
			t.Errorf("%v of 4 threads busy: %+v", busy, f)
		}
		if !strings.Contains(out.String(), "stand-in") {
			t.Error("it does not say what it is")
		}
	}
	var out strings.Builder
	if err := run([]string{"ockrw", "-n", "10", "--fail", "3", "--rate", "1000"}, &out); err == nil {
		t.Error("failed calls, and no exit code")
	}
	if f, err := driver.ParseFreon(out.String()); err != nil || f.Failures != 3 || f.Successes != 7 {
		t.Errorf("%+v, %v", f, err)
	}
	for _, args := range [][]string{nil, {"ockrw", "-t", "0"}, {"ockrw", "--nonsense"}} {
		if err := run(args, &out); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
