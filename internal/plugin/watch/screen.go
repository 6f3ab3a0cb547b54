package watch

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/plugin/terminal"
)

// screen redraws a table on a terminal. If the output is not a terminal, it writes a line for each change and each point.
type screen struct {
	out   io.Writer
	width int    // width of the terminal in columns; 0: the output is not a terminal
	high  int    // height of the terminal in lines
	lines int    // lines of the table that is shown now
	last  string // last progress line that was written, without the time left
	began bool   // the API server has answered
	paint func(colour, text string) string
}

func newScreen(out io.Writer) *screen {
	width, height, _ := terminal.Size(out)
	return &screen{out: out, width: width, high: height, paint: terminal.NewPainter(out)}
}

func (s *screen) show(c *v1alpha1.BenchmarkCampaign, points *points) {
	if s.width > 0 {
		s.redraw(formatDashboard(c, points, time.Now(), s.paint))
		return
	}
	for _, r := range points.takeNew() {
		rate, verdict := describeResult(r, c.Spec)
		s.write(fmt.Sprintf("%s: %s %s, %s", attemptName(r.Attempt), rate, plan.DriverOf(c.Spec.Workload).Unit(), terminal.Printable(terminal.Shorten(verdict, 160))))
	}
	key := ProgressLine(c.Status, time.Time{}) // without the time left
	if key != s.last {
		s.write(ProgressLine(c.Status, time.Now()))
	}
	s.last = key
}

// tick redraws the table on a terminal, so the remaining time is up to date.
func (s *screen) tick(c *v1alpha1.BenchmarkCampaign, points *points) {
	if s.width > 0 {
		if width, height, ok := terminal.Size(s.out); ok {
			s.width, s.high = width, height // the user may have resized the window
		}
		s.show(c, points)
	}
}

func (s *screen) write(text string) {
	fmt.Fprintf(s.out, "%s  %s\n", time.Now().Format(time.TimeOnly), text)
}

// redraw overwrites the previous table. The table must fit the terminal in width and height, because otherwise the cursor would
// not return to the table's first line.
func (s *screen) redraw(text string) {
	var b strings.Builder
	if s.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.lines)
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if most := max(s.high-1, 5); len(lines) > most {
		lines = append(lines[:most-1], fmt.Sprintf("... %s more", terminal.FormatCount(len(lines)-most+1, "line")))
	}
	for _, l := range lines {
		fmt.Fprintf(&b, "\r\x1b[2K%s\n", terminal.Shorten(l, max(s.width-1, 40)))
	}
	b.WriteString("\x1b[J") // delete the remaining lines of a longer table
	s.lines = len(lines)
	fmt.Fprint(s.out, b.String())
}
