package driver

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

// OSBErrors are the program's error lines: it prints one for each failed request, and one when it cannot go on.
type OSBErrors struct {
	Rejected int      // lines that tell of status 429, a rejected execution or a circuit breaker
	Other    int      // all other lines
	Lines    []string // distinct, in order, those that are not rejections first; at most maxLines
}

// Bounds of what is kept of the program's output, which a cluster that rejects a lot makes as long as the load is.
const (
	maxLines = 8         // distinct error lines
	maxLook  = 1000      // error lines of a kind that are looked at for distinct ones: that takes regular expressions
	maxLine  = 64 << 10  // bytes of a line
	keptEnds = 128 << 10 // bytes of the output's beginning, and of its end
)

var (
	escape = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)
	// digits and addresses in a line that differ from request to request
	volatile = regexp.MustCompile(`@[0-9a-f]+|\d[\d.]*`)
	// an answer of the API as Python prints it: type and reason of its first cause tell all of it
	answer = regexp.MustCompile(`'type': '([^']*)', 'reason': (?:'([^']*)'|"([^"]*)")`)
)

// OSBOutput takes in what the program prints, as it prints it: it counts every error and keeps the two ends of the
// text. It is not safe for concurrent use.
type OSBOutput struct {
	head, tail, line []byte
	total            int // bytes taken in

	news            atomic.Int64 // lines so far that were not among the last ones
	seed            maphash.Seed
	recent          [recentLines]uint64
	oldest          int
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
	o.total += len(p)
	n := min(len(p), keptEnds-len(o.head))
	o.head = append(o.head, p[:n]...)
	o.tail = append(o.tail, p[n:]...)
	if extra := len(o.tail) - keptEnds; extra > keptEnds { // not at every piece: moving takes time
		o.tail = append(o.tail[:0], o.tail[extra:]...)
	}
	for rest := p; len(rest) > 0; {
		end := bytes.IndexAny(rest, lineEnds)
		piece := rest
		if end >= 0 {
			piece = rest[:end]
		}
		o.line = append(o.line, piece[:min(len(piece), maxLine-len(o.line))]...)
		if end < 0 {
			break
		}
		o.endLine()
		rest = rest[end+1:]
	}
	return len(p), nil
}

// lineEnds are what a line ends at: the program's progress uses carriage returns and cursor movements.
const lineEnds = "\n\r\x1b"

func (o *OSBOutput) endLine() {
	o.noteNews()
	if _, text, found := bytes.Cut(o.line, []byte("[ERROR]")); found {
		o.addError(string(text))
	}
	o.line = o.line[:0]
}

// recentLines is how many lines back one counts as said before: a program that waits prints its progress anew every
// second, a line for each of what it waits for.
const recentLines = 16

func (o *OSBOutput) noteNews() {
	if o.seed == (maphash.Seed{}) {
		o.seed = maphash.MakeSeed()
	}
	said := maphash.Bytes(o.seed, o.line)
	if len(o.line) == 0 || slices.Contains(o.recent[:], said) {
		return
	}
	o.recent[o.oldest] = said
	o.oldest = (o.oldest + 1) % recentLines
	o.news.Add(1)
}

// News counts the lines so far that the program had not just printed before. It is safe for concurrent use.
func (o *OSBOutput) News() int64 { return o.news.Load() }

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
	o.endLine()
	lines := append(slices.Clone(o.other.distinct), o.rejected.distinct...)
	return OSBErrors{Rejected: o.rejected.count, Other: o.other.count, Lines: lines[:min(maxLines, len(lines))]}
}

// Text is the output, without its middle when that is long.
func (o *OSBOutput) Text() string {
	tail := o.tail[max(0, len(o.tail)-keptEnds):]
	if out := o.total - len(o.head) - len(tail); out > 0 {
		return fmt.Sprintf("%s\n(%d bytes are left out)\n%s", o.head, out, tail)
	}
	return string(o.head) + string(tail)
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
