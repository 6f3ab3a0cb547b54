package output

import (
	"regexp"
	"strings"
)

// cursorMovement matches an escape sequence of a terminal.
var cursorMovement = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

// LastWords returns the last meaningful lines, at most three, joined to one text. It omits decoration and repeated lines. It
// also omits a progress line if another line follows.
func LastWords(lines []string) string {
	var last []string
	for i := len(lines) - 1; i >= 0 && len(last) < 3; i-- {
		line := strings.TrimSpace(lines[i])
		progress := strings.HasPrefix(line, "Running ") && strings.Contains(line, "% done]")
		if strings.Trim(line, "-*_/\\ ") == "" || progress && len(last) > 0 || Repeats(last, line) {
			continue
		}
		if progress {
			line = strings.Join(strings.Fields(line), " ")
		}
		last = append([]string{line}, last...)
	}
	return strings.Join(last, "; ")
}

// Repeats reports whether one of the given lines (words) contains line.
func Repeats(words []string, line string) bool {
	for _, w := range words {
		if strings.Contains(w, line) {
			return true
		}
	}
	return false
}

// SplitLines splits a text at line ends, carriage returns and cursor movements. Programs print progress with carriage returns
// and cursor movements.
func SplitLines(s string) []string {
	s = strings.ReplaceAll(cursorMovement.ReplaceAllString(s, "\n"), "\r", "\n")
	return strings.Split(s, "\n")
}

// Bound shortens a text to at most max bytes of valid UTF-8.
func Bound(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return strings.ToValidUTF8(s[:max], "")
}
