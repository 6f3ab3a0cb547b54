package report

import (
	"fmt"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// markdown is report.md: first the sentence that says what was found, last where it all comes from.
func markdown(in Input, rows []attempt, resultFiles int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", in.Name, sentence(in, rows))
	conclusive(&b, in)
	knees(&b, in)
	finals(&b, in)
	searches(&b, in)
	sweeps(&b, in)
	failed(&b, rows)
	environments(&b, in, rows)
	durations(&b, in, rows)
	provenance(&b, in, rows, resultFiles)
	return b.String()
}

func conclusive(b *strings.Builder, in Input) {
	ok, reason, message := in.Assessment.Conclusive()
	switch {
	case ok:
		fmt.Fprintf(b, "\n**Conclusive**: %s.\n", message)
	case reason == v1alpha1.ReasonNotFinished:
		fmt.Fprintf(b, "\n**Not finished**: %s.\n", message)
	default:
		fmt.Fprintf(b, "\n**Not conclusive** (%s):\n", reason)
		for _, d := range in.Assessment.Doubts() {
			fmt.Fprintf(b, "- %s: %s\n", d.Reason, line(d.Message))
		}
	}
}
