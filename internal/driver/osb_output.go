package driver

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// OSBErrors are the program's error lines: it prints one for each failed request, and one when it cannot go on.
type OSBErrors struct {
	Rejected int      // lines that tell of status 429, a rejected execution or a circuit breaker
	Other    int      // all other lines
	Lines    []string // distinct, in order, those that are not rejections first; at most maxLines
}

// Bounds of what is kept of the program's error lines, of which a cluster that rejects a lot makes many.
const (
	maxLines = 8    // distinct ones
	maxLook  = 1000 // of a kind, that are looked at for distinct ones: that takes regular expressions
)

var (
	escape = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)
	// digits and addresses in a line that differ from request to request
	volatile = regexp.MustCompile(`@[0-9a-f]+|\d[\d.]*`)
	// an answer of the API as Python prints it: type and reason of its first cause tell all of it
	answer = regexp.MustCompile(`'type': '([^']*)', 'reason': (?:'([^']*)'|"([^"]*)")`)
)

// OSBOutput takes in what the program prints, as it prints it, and counts every error. It is not safe for concurrent use.
type OSBOutput struct {
	Output
	rejected, other errorLines
}

// errorLines are the error lines of a kind.
type errorLines struct {
	count    int
	seen     map[string]bool
	distinct []string
}

// Write takes in a piece of the output.
func (o *OSBOutput) Write(p []byte) (int, error) {
	o.take(p, o.addLine)
	return len(p), nil
}

func (o *OSBOutput) addLine(line []byte) {
	if _, text, found := bytes.Cut(line, []byte("[ERROR]")); found {
		o.addError(string(text))
	}
}

func (o *OSBOutput) addError(text string) {
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

// Errors are those of the whole output, the last line included.
func (o *OSBOutput) Errors() OSBErrors {
	o.endLine(o.addLine)
	lines := append(slices.Clone(o.other.distinct), o.rejected.distinct...)
	return OSBErrors{Rejected: o.rejected.count, Other: o.other.count, Lines: lines[:min(maxLines, len(lines))]}
}

// ParseOSBErrors reads what the program printed.
func ParseOSBErrors(output string) OSBErrors {
	var o OSBOutput
	_, _ = o.Write([]byte(output)) // never fails
	return o.Errors()
}

func isRejection(text string) bool {
	return strings.Contains(text, "status: 429") || strings.Contains(text, "rejected execution") ||
		strings.Contains(text, "rejected_execution_exception") || strings.Contains(text, "circuit_breaking_exception")
}

// TellingOSBOutput is what of the program's output tells why it failed, at most max bytes: what stands between
// "Cannot run" and the advice that follows it, else the error lines, else its last words.
func TellingOSBOutput(output string, max int) string {
	lines := splitLines(output)
	if text := cannotRun(lines); text != "" {
		return bound(text, max)
	}
	if e := ParseOSBErrors(output); len(e.Lines) > 0 {
		return bound(strings.Join(e.Lines, "; "), max)
	}
	return bound(lastWords(lines), max)
}

// lastWords joins the last lines that are neither ornament nor progress; of lines that repeat, one.
func lastWords(lines []string) string {
	var last []string
	for i := len(lines) - 1; i >= 0 && len(last) < 3; i-- {
		line := strings.TrimSpace(lines[i])
		progress := strings.HasPrefix(line, "Running ") && strings.Contains(line, "% done]")
		if strings.Trim(line, "-*_/\\ ") == "" || progress && len(last) > 0 || repeats(last, line) {
			continue
		}
		if progress {
			line = strings.Join(strings.Fields(line), " ")
		}
		last = append([]string{line}, last...)
	}
	return strings.Join(last, "; ")
}

// cannotRun joins the distinct lines of the program's last words.
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
			if !repeats(words, line) {
				words = append(words, line)
			}
		}
	}
	return strings.Join(words, "; ")
}

// repeats says whether an earlier line holds this one already.
func repeats(words []string, line string) bool {
	for _, w := range words {
		if strings.Contains(w, line) {
			return true
		}
	}
	return false
}

// splitLines splits at line ends and at carriage returns and cursor movements, which the program's progress uses.
func splitLines(s string) []string {
	s = strings.ReplaceAll(escape.ReplaceAllString(s, "\n"), "\r", "\n")
	return strings.Split(s, "\n")
}

func bound(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return strings.ToValidUTF8(s[:max], "")
}

var unusedParams = regexp.MustCompile(`Unused workload parameters \[([^\]]*)\]`)

// UnusedOSBParams are the parameters for whose sake the program refuses a workload: no template uses them.
func UnusedOSBParams(output string) []string {
	var out []string
	if m := unusedParams.FindStringSubmatch(output); m != nil {
		for _, name := range strings.Split(m[1], ",") {
			out = append(out, strings.Trim(name, " '\""))
		}
	}
	return out
}
