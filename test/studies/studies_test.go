package studies_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knee-bench/knee/test/studies"
)

const samples = "../../config/samples"

// Every figure that the studies published comes out of Knee's report as it was printed.
func TestPublishedFiguresAreReproduced(t *testing.T) {
	for _, s := range studies.All() {
		t.Run(s.Sample, func(t *testing.T) {
			r, err := s.Run(samples)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Checks {
				if !c.OK {
					t.Errorf("%s: published %s, reproduced %s", c.Figure, c.Published, c.Reproduced)
				}
			}
			if !r.OK() || len(r.Checks) < 10 {
				t.Errorf("%d checks, OK %t", len(r.Checks), r.OK())
			}
			for _, name := range []string{"report.md", "report.html"} {
				if !strings.Contains(r.Files[name], "not measured here") {
					t.Errorf("%s does not say that nothing was measured", name)
				}
			}
		})
	}
}

// Where a study contradicts itself, or says more than its figures do, the corrections say what these come to.
func TestCorrections(t *testing.T) {
	want := map[int][]string{
		1: {"PeakAtRangeEdge", "20 clients fall 3.04 % below 16", "40.65 and 62.72"},
		2: {"in MB/s (10^6 bytes) it is 1214.54", "966.17 bytes a row", "= 19.8 requests in flight"},
		3: {"156.25 kdoc/s", "243.75 MiB/s", "1.595 KiB a document", "1.418 by kdoc/s, 1.413 by MiB/s and 1.417 by minutes", "1.92 s", "31 GiB"},
		4: {"the true mean is 285595.5 docs/s", "90 B, and 104 B in a bulk request", "5.2 flushes of 2 MB", "nothing is flushed"},
		5: {"10037245 calls, 0.37 % more", "19493.18 calls/s, and 19512.20 at most", "91.4 calls in flight of 100", "1,028 calls"},
	}
	for _, s := range studies.All() {
		r, err := s.Run(samples)
		if err != nil {
			t.Fatal(err)
		}
		text := r.Markdown()
		for _, part := range want[s.Number] {
			if !strings.Contains(text, part) {
				t.Errorf("study %d: %q is not in:\n%s", s.Number, part, text)
			}
		}
	}
}

// A figure that is not reproduced is found, and what is written says so.
func TestWrongFigureIsFound(t *testing.T) {
	s := studies.All()[0]
	r, err := s.Run(samples)
	if err != nil {
		t.Fatal(err)
	}
	files := r.Files["comparison.csv"]
	if !strings.Contains(files, "349156") {
		t.Fatal("the peak is not in comparison.csv")
	}
	again, err := s.Recheck(r, strings.ReplaceAll(files, "349156", "349256"))
	if err != nil {
		t.Fatal(err)
	}
	if again.OK() {
		t.Error("a peak that is 0.03 % off passes")
	}
	if !strings.Contains(again.Markdown(), "| arm peak, docs/s | 349156 | 349256 | **NO** |") {
		t.Error(again.Markdown())
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	r, err := studies.All()[4].Run(samples)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a folder that is there is made anew
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"figures.md", "report.md", "report.html", "results.csv", "comparison.csv"} {
		if info, err := os.Stat(filepath.Join(dir, "5", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
