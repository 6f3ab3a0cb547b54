package main

import (
	"strings"
	"testing"
)

// earlierBundle is a bundle that an earlier release exported.
const earlierBundle = "../../test/releases/testdata/ae56b0a/bundle.tar.gz"

func TestReport_bundleOfEarlierRelease_hasSameVerdict(t *testing.T) {
	report := ok(t, "report", "--from-bundle", earlierBundle)
	for _, want := range []string{"intel    1p0r      8/8     8     191     91 %       16    193     3       190", "arm / intel  8        1.2005  [1.1758, 1.2239]  90.0 %", "Not conclusive (OrderConfounded)"} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in\n%s", want, report)
		}
	}
	stored := ok(t, "report", "--from-bundle", earlierBundle, "--md")
	if !strings.Contains(stored, "1.20") {
		t.Errorf("the stored report is\n%s", stored)
	}
}

func TestCompare_bundleOfEarlierRelease_hasSameFigures(t *testing.T) {
	c := compared(t, earlierBundle, earlierBundle)
	if len(c.Cells) != 2 || len(c.OnlyA)+len(c.OnlyB) != 0 {
		t.Fatalf("%+v", c)
	}
	for i, want := range []struct {
		variant string
		knee    float64
	}{{"intel", 191}, {"arm", 227}} {
		cell := c.Cells[i]
		if cell.Variant != want.variant || cell.Knee == nil || cell.Knee.A.Clients != 8 || int(cell.Knee.A.Rate+0.5) != int(want.knee) || len(cell.Spec) != 0 {
			t.Errorf("%s: knee %+v, want %+v", cell.Variant, cell.Knee, want)
		}
	}
}
