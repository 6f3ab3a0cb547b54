package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// screen renews a table on a terminal, and elsewhere writes a line for each change and each point.
type screen struct {
	out   io.Writer
	width int    // of the terminal, in columns; 0: it is none
	high  int    // of the terminal, in lines
	lines int    // of the table that stands on the terminal
	last  string // what was written, without the clock
	began bool   // the API server has answered
	paint func(colour, text string) string
}

func newScreen(out io.Writer) *screen {
	width, height, _ := terminal(out)
	return &screen{out: out, width: width, high: height, paint: painter(out)}
}

func (s *screen) show(c *v1alpha1.BenchmarkCampaign, points *points) {
	if s.width > 0 {
		s.redraw(dashboard(c, points, time.Now(), s.paint))
		return
	}
	for _, r := range points.take() {
		rate, verdict := found(r, c.Spec)
		s.write(fmt.Sprintf("%s: %s %s, %s", attemptName(r.Trial), rate, c.Spec.Workload.Unit(), printable(shorten(verdict, 160))))
	}
	key := line(c.Status, time.Time{}) // without the clock
	if key != s.last {
		s.write(line(c.Status, time.Now()))
	}
	s.last = key
}

// tick renews the time left.
func (s *screen) tick(c *v1alpha1.BenchmarkCampaign, points *points) {
	if s.width > 0 {
		if width, height, ok := terminal(s.out); ok {
			s.width, s.high = width, height // the window may have another size by now
		}
		s.show(c, points)
	}
}

func (s *screen) write(text string) {
	fmt.Fprintf(s.out, "%s  %s\n", time.Now().Format(time.TimeOnly), text)
}

// redraw writes a table over the one before. No line may be wider than the terminal, nor the table higher, or the cursor
// would not find back to the first line.
func (s *screen) redraw(text string) {
	var b strings.Builder
	if s.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.lines)
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if most := max(s.high-1, 5); len(lines) > most {
		lines = append(lines[:most-1], fmt.Sprintf("... %s more", count(len(lines)-most+1, "line")))
	}
	for _, l := range lines {
		fmt.Fprintf(&b, "\r\x1b[2K%s\n", shorten(l, max(s.width-1, 40)))
	}
	b.WriteString("\x1b[J") // what is left of a longer one
	s.lines = len(lines)
	fmt.Fprint(s.out, b.String())
}
