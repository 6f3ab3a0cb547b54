package osbtool

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestOutputNews_repeatedProgress_isNotCounted checks that progress that is printed again without a change does not count as news. Any other line counts.
func TestOutputNews_repeatedProgress_isNotCounted(t *testing.T) {
	var o Output
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(&o, format, args...) }
	progress := func(percent int) {
		say("\x1b[1A\x1b[2KRunning index      [%3d%% done]\n", percent)
		say("Running other      [%3d%% done]\n", percent)
	}
	progress(50)
	first := o.News()
	for range 100 {
		progress(50)
	}
	if got := o.News(); got != first || first == 0 {
		t.Errorf("%d lines are news, %d of them after the first", got, got-first)
	}
	progress(51)
	if got := o.News(); got <= first {
		t.Error("progress is no news")
	}
	before := o.News()
	for i := range 100 {
		say("[ERROR] request %d\n", i)
	}
	if got := o.News() - before; got != 100 {
		t.Errorf("%d news of 100 different lines", got)
	}
	before = o.News()
	say("no end of a line yet")
	if o.News() != before {
		t.Error("half a line is news")
	}
}

// TestOutputNews_realRun_isCounted checks that the output of a real program counts as news during the whole load, because its
// percentages always change.
func TestOutputNews_realRun_isCounted(t *testing.T) {
	var o Output
	data, err := os.ReadFile("testdata/osb/timed-c4-b1000.stdout.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = o.Write(data)
	if percents := int64(strings.Count(string(data), "% done]")); percents < 10 || o.News() < percents/2 {
		t.Errorf("%d news of %d lines of progress", o.News(), percents)
	}
}
