package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestHelp_fitsTerminal checks that the help of each command fits a terminal of 80 columns, and that each command has an example.
func TestHelp_fitsTerminal(t *testing.T) {
	t.Setenv("HOME", "/root") // the defaults of kubectl's flags contain it
	names := []string{""}
	for _, sub := range newPlugin(genericiooptions.IOStreams{}).command().Commands() {
		if sub.Example == "" {
			t.Errorf("%s has no example", sub.Name())
		}
		names = append(names, sub.Name())
	}
	if len(names) < 10 {
		t.Errorf("only the commands %v", names)
	}
	for _, name := range names {
		help := ok(t, strings.Fields(name+" --help")...)
		for line := range strings.Lines(help) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth {
				t.Errorf("kubectl knee %s --help has a line of %d columns: %s", name, n, line)
			}
		}
		if !strings.Contains(help, "--kubeconfig") {
			t.Errorf("kubectl knee %s --help does not show the flags of kubectl:\n%s", name, help)
		}
	}
}
