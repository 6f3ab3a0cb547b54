package osbtool

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/drivers/output"
)

// Errors summarizes the errors that the program prints: one for each failed request, sometimes several in one line, and one if it
// cannot continue.
type Errors struct {
	Rejected int      // lines that report status 429, a rejected execution or a circuit breaker
	Other    int      // all other error lines
	Lines    []string // distinct lines in their order, rejections last; at most maxLines
}

// Limits for error lines. A cluster that rejects many requests causes many lines.
const (
	maxLines = 8    // maximum number of distinct lines to keep
	maxLook  = 1000 // maximum number of lines of each kind that are compared with the kept lines; each comparison uses regular expressions
)

var (
	// volatile matches the numbers and addresses in a line that differ between requests.
	volatile = regexp.MustCompile(`@[0-9a-f]+|\d[\d.]*`)
	// answer matches an answer of the API in Python's format. Only the type and the reason of its first cause are kept.
	answer = regexp.MustCompile(`'type': '([^']*)', 'reason': (?:'([^']*)'|"([^"]*)")`)
)

// Output receives the output of the program in pieces and counts every error. It is not safe for concurrent use.
type Output struct {
	output.Output
	rejected, other errorLines
}

// errorLines holds the error lines of one kind.
type errorLines struct {
	count    int
	seen     map[string]bool
	distinct []string
}

// Write adds a piece of the output.
func (o *Output) Write(p []byte) (int, error) {
	o.Take(p, o.addLine)
	return len(p), nil
}

// addLine counts every error of a line. A line may have several, because the workers of the program write the text of an error and
// the end of its line separately.
func (o *Output) addLine(line []byte) {
	_, rest, found := bytes.Cut(line, []byte("[ERROR]"))
	for found {
		var text []byte
		text, rest, found = bytes.Cut(rest, []byte("[ERROR]"))
		o.addError(string(text))
	}
}

func (o *Output) addError(text string) {
	text = strings.TrimSpace(strings.Replace(text, "❌", "", 1))
	kind := &o.other
	if isRejection(text) {
		kind = &o.rejected
	}
	kind.count++
	if kind.count > maxLook || len(kind.distinct) >= maxLines {
		return
	}
	if m := answer.FindStringSubmatch(text); m != nil {
		text = m[1] + ": " + m[2] + m[3]
	}
	key := volatile.ReplaceAllString(text, "#")
	if kind.seen[key] {
		return
	}
	if kind.seen == nil {
		kind.seen = map[string]bool{}
	}
	kind.seen[key] = true
	kind.distinct = append(kind.distinct, text)
}

// Errors returns the errors of the output so far, including the incomplete last line.
func (o *Output) Errors() Errors {
	o.EndLine(o.addLine)
	lines := append(slices.Clone(o.other.distinct), o.rejected.distinct...)
	return Errors{Rejected: o.rejected.count, Other: o.other.count, Lines: lines[:min(maxLines, len(lines))]}
}

// ParseErrors returns the errors in the output of the program.
func ParseErrors(printed string) Errors {
	var o Output
	_, _ = o.Write([]byte(printed)) // never fails
	return o.Errors()
}

func isRejection(text string) bool {
	return strings.Contains(text, "status: 429") || strings.Contains(text, "rejected execution") ||
		strings.Contains(text, "rejected_execution_exception") || strings.Contains(text, "circuit_breaking_exception")
}

// FailureText returns the part of the program's output that explains a failure, at most max bytes. It prefers the text
// between "Cannot run" and the advice that follows. If there is no such text, it returns the error lines, or else the last
// lines.
func FailureText(printed string, max int) string {
	lines := output.SplitLines(printed)
	if text := cannotRun(lines); text != "" {
		return output.Bound(text, max)
	}
	if e := ParseErrors(printed); len(e.Lines) > 0 {
		return output.Bound(strings.Join(e.Lines, "; "), max)
	}
	return output.Bound(output.LastWords(lines), max)
}

// cannotRun returns the distinct lines of the last "Cannot ..." message, joined to one text.
func cannotRun(lines []string) string {
	var words []string
	seen := map[string]bool{}
	inside := false
	for _, line := range lines {
		if _, text, found := strings.Cut(line, "Cannot "); found && strings.Contains(line, "[ERROR]") && strings.Contains(line, "❌") {
			inside, words, seen = true, []string{"Cannot " + strings.TrimSpace(text)}, map[string]bool{}
			continue
		}
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Getting further help") {
			inside = false
		}
		if inside && line != "" && !seen[line] && !strings.HasPrefix(line, "Worker ID:") && line != "Cause: Unknown" {
			seen[line] = true
			if !output.Repeats(words, line) {
				words = append(words, line)
			}
		}
	}
	return strings.Join(words, "; ")
}

var unusedParams = regexp.MustCompile(`Unused workload parameters \[([^\]]*)\]`)

// UnusedParams returns the parameters that no template of the workload uses. The program refuses to run a workload with such
// parameters.
func UnusedParams(printed string) []string {
	var out []string
	if m := unusedParams.FindStringSubmatch(printed); m != nil {
		for _, name := range strings.Split(m[1], ",") {
			out = append(out, strings.Trim(name, " '\""))
		}
	}
	return out
}
