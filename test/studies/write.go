package studies

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Write writes the report of a study and figures.md into the study's own folder below dir.
func (r *Result) Write(dir string) error {
	folder := filepath.Join(dir, r.Study.Folder())
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	files := map[string]string{"figures.md": r.Markdown()}
	for name, text := range r.Files {
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Markdown returns the table of figures and the corrections.
func (r *Result) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Study %d: %s\n\nThis table compares the figures of a published study with the report that Knee makes from them. The campaign is config/samples/%s. "+
		"Knee did not measure these figures. A figure that the study does not print, but that follows from its figures, is marked as worked out.\n\n",
		r.Study.Number, r.Study.Name, r.Study.Sample)
	b.WriteString("| figure | published | in the report | ok |\n| --- | ---: | ---: | --- |\n")
	for _, c := range r.Checks {
		published := escaped(c.Published)
		if c.Derived {
			published += " (worked out)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", escaped(c.Figure), published, escaped(c.Reproduced), yes(c.OK))
	}
	if len(r.Corrections) > 0 {
		b.WriteString("\n## Corrections\n\n| the study | what its figures come to |\n| --- | --- |\n")
		for _, c := range r.Corrections {
			fmt.Fprintf(&b, "| %s | %s |\n", escaped(c.Says), escaped(c.Comes))
		}
	}
	return b.String()
}

func escaped(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

func yes(ok bool) string {
	if ok {
		return "yes"
	}
	return "**NO**"
}
