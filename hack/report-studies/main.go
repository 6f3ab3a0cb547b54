// Command report-studies writes the reports of the five studies from their published figures, and checks the figures of the
// five documents against each other. It fails if a figure is not in Knee's report, or if the result of a check differs from
// the expected one.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/knee-bench/knee/test/studies"
	"github.com/knee-bench/knee/test/studies/claims"
)

func main() {
	samples := flag.String("samples", "config/samples", "folder of the sample campaigns")
	out := flag.String("out", "dist/studies", "folder to write to: one below it for each study, and documents.md")
	flag.Parse()
	wrong, err := writeStudies(*samples, *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "report-studies:", err)
		os.Exit(1)
	}
	unexpected, err := writeDocuments(*out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "report-studies:", err)
		os.Exit(1)
	}
	if wrong > 0 || unexpected > 0 {
		fmt.Fprintf(os.Stderr, "report-studies: %d published figures were not reproduced, %d checks of the documents had an unexpected result\n", wrong, unexpected)
		os.Exit(1)
	}
}

// writeStudies writes the report of each study and returns how many figures were not reproduced.
func writeStudies(samples, out string) (wrong int, err error) {
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
		fmt.Printf("%s\n%d files in %s/%s\n\n", r.Markdown(), len(r.Files)+1, out, s.Folder())
	}
	return wrong, nil
}

// writeDocuments writes the checks of the documents and returns how many had an unexpected result.
func writeDocuments(out string) (unexpected int, err error) {
	r, err := claims.RunAll()
	if err != nil {
		return 0, err
	}
	if err := r.Write(out); err != nil {
		return 0, err
	}
	fmt.Printf("%s\n%d checks in %s/documents.md and documents.csv\n", r.Summary(), len(r.Checks), out)
	return len(r.Failed()), nil
}
