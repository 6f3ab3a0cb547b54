package report_test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// elements lists the elements of a page in document order.
func elements(t *testing.T, page string) []*html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var out []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			out = append(out, n)
		}
	}
	return out
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

// TestHTML_refersToNothingOutside checks that a page refers to no other file or site, contains no scripts, and describes its
// plots in words.
func TestHTML_refersToNothingOutside(t *testing.T) {
	for name, in := range map[string]view.Input{
		"study":    finished(campaigntest.StudyCampaign(), campaigntest.StudyRecord),
		"showcase": finished(showcase(), showcaseRecords()),
		"fixed":    finished(fixedShowcase(), showcaseRecords()),
		"empty":    input(twoVariants("t"), nil),
	} {
		page := report.HTML(in)
		ids := map[string]*html.Node{}
		var plots, policies int
		all := elements(t, page)
		for _, n := range all {
			if id := attribute(n, "id"); id != "" {
				if ids[id] != nil {
					t.Errorf("%s: id %s twice", name, id)
				}
				ids[id] = n
			}
			if slices.Contains([]string{"script", "iframe", "object", "embed", "base", "form", "foreignobject"}, strings.ToLower(n.Data)) {
				t.Errorf("%s: a %s", name, n.Data)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") {
					t.Errorf("%s: %s of %s", name, a.Key, n.Data)
				}
				if slices.Contains([]string{"href", "src", "srcset", "action", "data"}, a.Key) && !strings.HasPrefix(a.Val, "#") && a.Val != "data:," {
					t.Errorf("%s: %s refers to %q", name, n.Data, a.Val)
				}
			}
			if attribute(n, "http-equiv") == "Content-Security-Policy" {
				policies++
				if got := attribute(n, "content"); got != "default-src 'none'; style-src 'unsafe-inline'; img-src data:" {
					t.Errorf("%s: policy %q", name, got)
				}
			}
		}
		for _, n := range all {
			if n.Data != "svg" || attribute(n, "aria-hidden") == "true" {
				continue
			}
			plots++
			if box := n.Parent; !strings.HasPrefix(attribute(box, "class"), "box") || attribute(box, "tabindex") != "0" || attribute(box, "aria-label") == "" {
				t.Errorf("%s: a plot has no box of its own to scroll in", name)
			}
			if attribute(n, "role") != "img" || attribute(n, "viewbox")+attribute(n, "viewBox") == "" {
				t.Errorf("%s: a plot without role img or viewBox", name)
			}
			labels := strings.Fields(attribute(n, "aria-labelledby"))
			if len(labels) != 2 {
				t.Fatalf("%s: a plot is labelled by %v, want its title and desc", name, labels)
			}
			for i, element := range []string{"title", "desc"} {
				if by := ids[labels[i]]; by == nil || by.Data != element || text(by) == "" || by.Parent != n {
					t.Errorf("%s: plot without a %s that says something: %s", name, element, labels[i])
				}
			}
			if desc := text(ids[labels[1]]); !regexp.MustCompile(`[0-9]`).MatchString(desc) {
				t.Errorf("%s: the alternative text %q tells no figure", name, desc)
			}
		}
		if policies != 1 || (plots == 0) != (name == "empty") {
			t.Errorf("%s: %d policies, %d plots", name, policies, plots)
		}
		for _, never := range []string{"NaN", "Inf", "@import", "url(", "<?xml", "http://", "https://"} {
			if strings.Contains(page, never) {
				t.Errorf("%s: %q in the page", name, never)
			}
		}
		if h1 := slices.IndexFunc(all, func(n *html.Node) bool { return n.Data == "h1" }); h1 < 0 || text(all[h1]) != summary.Sentence(in) {
			t.Errorf("%s: the page does not open with the sentence", name)
		}
	}
}

// TestHTML_escapesTexts checks that texts of a driver are escaped.
func TestHTML_escapesTexts(t *testing.T) {
	page := report.HTML(finished(showcase(), showcaseRecords()))
	if strings.Contains(page, "failed <html>") || !strings.Contains(page, "failed &lt;html&gt; &amp; &#34;quotes&#34;") {
		t.Error("a message is not escaped")
	}
}

// TestFiles_runningCampaign_hasNoPage checks that the files of an unfinished campaign contain no report.html, but that HTML
// can still build the page.
func TestFiles_runningCampaign_hasNoPage(t *testing.T) {
	in := finished(twoVariants("t"), plain)
	if _, found := report.Files(in)["report.html"]; !found {
		t.Error("no report.html of a finished campaign")
	}
	running := input(twoVariants("t"), in.Records[:len(in.Records)-1])
	if _, found := report.Files(running)["report.html"]; found {
		t.Error("report.html of a campaign that runs")
	}
	has(t, report.HTML(running), "Not finished: 13 of 14 trials are done", "<svg")
}

// TestHTML_gatedPoint_namesGate checks that each plot of a gated point names the gate. A failed point is shown as a cross
// without a figure.
func TestHTML_gatedPoint_namesGate(t *testing.T) {
	page := report.HTML(finished(showcase(), showcaseRecords()))
	root := elements(t, page)
	named := 0
	for _, n := range root {
		if n.Data != "figure" || !strings.Contains(text(n), "a gate failed") {
			continue
		}
		named++
		if s := text(n); !strings.Contains(s, "maxRejections") && !strings.Contains(s, "maxIOWaitPercent") {
			t.Errorf("a plot shows a gated point without its gate: %s", s)
		}
	}
	if named < 8 {
		t.Errorf("%d plots show gated points, want the knee curves, the Finals and those of telemetry", named)
	}
	has(t, page, "75: failed", "r6g/n6p48@75 failed: RequestsFailed", "64: 164", "(gated: 1234 rejections above maxRejections 0)", "16: skipped")
	if strings.Contains(page, "75: 0") {
		t.Error("a failed point has a figure")
	}
}

var (
	cssBlock    = regexp.MustCompile(`(?s):root \{(.*?)\}`)
	cssVariable = regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]{6})`)
	cssUse      = regexp.MustCompile(`var\(--([a-z0-9-]+)\)`)
)

// themes returns the CSS variables of the themes light, dark and print.
func themes(t *testing.T) []map[string]string {
	t.Helper()
	css, err := os.ReadFile("document/page/report.css")
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, block := range cssBlock.FindAllStringSubmatch(string(css), -1) {
		theme := map[string]string{}
		for _, v := range cssVariable.FindAllStringSubmatch(block[1], -1) {
			theme[v[1]] = v[2]
		}
		out = append(out, theme)
	}
	if len(out) != 3 {
		t.Fatalf("%d themes, want light, dark and print", len(out))
	}
	return out
}

// luminance and contrast are defined as in WCAG 2.2.
func luminance(t *testing.T, color string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

// TestThemes_contrast_meetsWCAG checks the contrasts of WCAG AA: 4.5 for text, 3 for the lines and marks of plots.
func TestThemes_contrast_meetsWCAG(t *testing.T) {
	for i, theme := range themes(t) {
		check := func(front, back string, least float64) {
			if got := contrast(t, theme[front], theme[back]); got < least {
				t.Errorf("theme %d: %s on %s has a contrast of %.2f, want %.1f", i, front, back, got, least)
			}
		}
		for _, back := range []string{"paper", "raised", "bad-paper", "warn-paper", "good-paper"} {
			check("ink", back, 4.5)
		}
		for _, pair := range [][2]string{
			{"muted", "paper"}, {"link", "paper"}, {"bad", "bad-paper"}, {"warn", "warn-paper"}, {"good", "good-paper"},
			{"warn", "paper"}, {"bad", "paper"}, {"muted", "raised"},
		} {
			check(pair[0], pair[1], 4.5)
		}
		for s := range 8 {
			check(fmt.Sprintf("s%d", s+1), "paper", 3)
			check(fmt.Sprintf("s%d", s+1), "band", 3)
		}
	}
}

// TestThemes_defineEveryColour checks that every theme defines every colour that a page uses.
func TestThemes_defineEveryColour(t *testing.T) {
	page := report.HTML(finished(showcase(), showcaseRecords()))
	for _, use := range cssUse.FindAllStringSubmatch(page, -1) {
		for i, theme := range themes(t) {
			if theme[use[1]] == "" {
				t.Fatalf("theme %d does not define --%s", i, use[1])
			}
		}
	}
	if strings.Contains(page, "#0102") || strings.Contains(page, "#0103") {
		t.Error("a colour of the drawing was not replaced")
	}
}
