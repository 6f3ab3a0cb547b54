package studies_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knee-bench/knee/test/studies"
)

const samples = "../../config/samples"

// TestStudies_publishedFigures_areReproduced checks that Knee's report contains every published figure as it was printed.
func TestStudies_publishedFigures_areReproduced(t *testing.T) {
	for _, s := range studies.All() {
		t.Run(s.Folder(), func(t *testing.T) {
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

// TestCorrections checks that the corrections state the right figures. A correction exists where a study contradicts
// itself or claims more than its figures show.
func TestCorrections(t *testing.T) {
	want := map[string][]string{
		"1": {"PeakAtRangeEdge", "20 clients fall 3.04 % below 16", "1.4366 for the peaks, which is 1.44 rounded; at the shared 16 clients it is 1.4613", "they are 3935.9 and 2551.1", "manual rerun",
			"40.65 and 62.72"},
		"2":         {"in MB/s (10^6 bytes) it is 1214.54", "966.17 bytes a row", "= 19.8 requests in flight", "52.100 and 52.084 s"},
		"3":         {"156.25 kdoc/s", "243.75 MiB/s", "1.595 KiB a document", "1.141x as much", "from 156 to 178 kdoc/s", "1.92 s", "31 GiB"},
		"4":         {"the true mean is 285595.5 docs/s", "90 B, and 104 B in a bulk request", "nothing is flushed", "without --fasthttp"},
		"4-httplog": {"the true mean is 52032.1 docs/s", "at most 1947 B a document"},
		"5":         {"10037245 calls, 0.37 % more", "19493.18 calls/s, and 19512.20 at most", "91.4 calls in flight of 100", "102.8 calls in flight of 100", "28 min 13 s", "1,028 calls"},
	}
	for _, s := range studies.All() {
		r, err := s.Run(samples)
		if err != nil {
			t.Fatal(err)
		}
		text := r.Markdown()
		for _, part := range want[s.Folder()] {
			if !strings.Contains(text, part) {
				t.Errorf("study %s: %q is not in:\n%s", s.Folder(), part, text)
			}
		}
	}
}

// TestRecheck_wrongFigure_failsItsCheck checks that a wrong figure in the report fails its check and is marked in figures.md.
func TestRecheck_wrongFigure_failsItsCheck(t *testing.T) {
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
	r, err := studies.All()[5].Run(samples)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time the folder exists and is replaced
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
