package doubts

import (
	"fmt"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/environment"
)

// mismatches returns a doubt about differences between cells that the campaign neither declares nor accepts.
func mismatches(a campaign.Assessment) []Doubt {
	var suspects []environment.Difference
	for _, d := range a.Differences {
		if d.Suspect() {
			suspects = append(suspects, d)
		}
	}
	most := maxNamed
	if len(suspects) > 1 {
		most = 2 // examples per difference; the report lists all
	}
	var fields []string
	for _, d := range suspects {
		var cells []string
		for _, v := range d.Values {
			if v.Undeclared {
				cells = append(cells, fmt.Sprintf("%s: %s", a.CellName(v.Variant, v.Topology), verdict.Clip(strings.Join(v.Values, " and "), 60)))
			}
		}
		fields = append(fields, fmt.Sprintf("%s (%s)", d.Field, listUpTo(cells, most)))
	}
	return doubtAbout(v1alpha1.ReasonEnvironmentMismatch, fields,
		"the compared cells differ in %s, and the campaign does not declare these differences: remove them and set a new spec.rerun, or add the fields to spec.acceptedDifferences")
}
