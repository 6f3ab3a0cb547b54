// Command report-studies writes the reports of the five studies from their published figures, and fails when one of these
// is not what Knee's report has.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/knee-bench/knee/test/studies"
)

func main() {
	samples := flag.String("samples", "config/samples", "folder of the sample campaigns")
	out := flag.String("out", "dist/studies", "folder to write to: one below it for each study")
	flag.Parse()
	wrong, err := run(*samples, *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "report-studies:", err)
		os.Exit(1)
	}
	if wrong > 0 {
		fmt.Fprintf(os.Stderr, "report-studies: %d published figures were not reproduced\n", wrong)
		os.Exit(1)
	}
}

func run(samples, out string) (wrong int, err error) {
	for _, s := range studies.All() {
		r, err := s.Run(samples)
		if err != nil {
			return wrong, err
		}
		if err := r.Write(out); err != nil {
			return wrong, err
		}
		for _, c := range r.Checks {
			if !c.OK {
				wrong++
			}
		}
		fmt.Printf("%s\n%d files in %s/%d\n\n", r.Markdown(), len(r.Files)+1, out, s.Number)
	}
	return wrong, nil
}
