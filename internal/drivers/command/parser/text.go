package parser

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/output"
)

// Limits of a pattern. Together with the limit for the kept output they bound the time for reading it: RE2 needs a time in
// proportion to the size of the pattern times the length of the text.
const (
	maxPattern = 512  // bytes
	maxProgram = 1000 // instructions, after repetitions such as x{50} are written out
)

// ParseText reads a program's figures from the lines of its output. Each pattern is compared with each line. The last line that
// matches contains the figure: the first capture group that is part of the match, except groups named unit.
func ParseText(text string, c commandconfig.Text) (Result, error) {
	return parseText(text, c, "spec.workload.command.text.")
}

func parseText(text string, c commandconfig.Text, field string) (Result, error) {
	s := textSource{lines: output.SplitLines(text), single: c.SingleMatch}
	r := &reading{source: &s, field: field}
	if c.IncludesFailures && (c.Operations == "" || c.Failures == "") {
		return Result{}, fmt.Errorf("%sthroughputIncludesFailures: add patterns for operations and failures, or leave it out: Knee reduces the throughput by the share of failed operations", field)
	}
	if c.After != "" {
		if err := s.skip(c.After); err != nil {
			return Result{}, fmt.Errorf("%safter: %w", field, err)
		}
	}
	uncounted := c.OptionalCounts && !s.contains(c.Operations) && !s.contains(c.Failures)
	if uncounted {
		c.Operations, c.Failures = "", ""
	}
	out, err := read(r, c.Figures)
	if err != nil {
		return Result{}, err
	}
	load := out.Load
	if uncounted {
		load.Notes = append([]string{"the output contains neither operations nor failures: the share of failed operations is not known, and the throughput may include failed operations"}, load.Notes...)
	}
	if !c.IncludesFailures {
		return out, nil
	}
	if !output.IsBytes(load.Unit) {
		out.callRate = load.Rate
	}
	return out.withoutFailures(uncounted)
}

// withoutFailures reduces the throughput by the share of failed operations.
func (r Result) withoutFailures(uncounted bool) (Result, error) {
	load := r.Load
	done := load.Operations + load.Failures
	switch {
	case uncounted || load.Failures == 0:
		return r, nil
	case load.Operations == 0:
		return Result{}, fmt.Errorf("all %d operations failed", done)
	}
	load.Rate *= float64(load.Operations) / float64(done)
	return r, nil
}

// textSource is a text. The selectors are patterns.
type textSource struct {
	lines  []string
	single bool // a pattern that matches several lines is an error
}

func (*textSource) selector() string { return "pattern" }

// skip removes all lines up to the last line that matches a pattern.
func (s *textSource) skip(pattern string) error {
	re, err := compile(pattern)
	if err != nil {
		return err
	}
	for i := len(s.lines) - 1; i >= 0; i-- {
		if re.MatchString(s.lines[i]) {
			s.lines = s.lines[i+1:]
			return nil
		}
	}
	return fmt.Errorf("no line of the output matches the pattern %s", pattern)
}

// contains reports whether a line matches a pattern. An invalid pattern matches nothing.
func (s *textSource) contains(pattern string) bool {
	re, err := compile(pattern)
	if err != nil || pattern == "" {
		return false
	}
	for _, line := range s.lines {
		if re.MatchString(line) {
			return true
		}
	}
	return false
}

func (s *textSource) number(pattern, unit string, whole bool) (value, resolution float64, err error) {
	re, err := compile(pattern)
	if err != nil {
		return 0, 0, err
	}
	if err := checkGroups(re); err != nil {
		return 0, 0, err
	}
	match, err := s.last(re)
	if err != nil {
		return 0, 0, err
	}
	number, suffix := groups(re, match)
	if value, resolution, err = convert(number, suffix, unit, whole); err != nil {
		return 0, 0, fmt.Errorf("the value at pattern %s: %w", pattern, err)
	}
	return value, resolution, nil
}

// last returns the submatches in the last line that matches.
func (s *textSource) last(re *regexp.Regexp) ([]string, error) {
	for i := len(s.lines) - 1; i >= 0; i-- {
		match := re.FindStringSubmatch(s.lines[i])
		if match == nil {
			continue
		}
		if s.single {
			for _, line := range s.lines[:i] {
				if re.MatchString(line) {
					return nil, fmt.Errorf("several lines of the output match the pattern %s, but the output must contain one summary", re)
				}
			}
		}
		return match, nil
	}
	return nil, fmt.Errorf("no line of the output matches the pattern %s", re)
}

// isUnit reports whether a group contains the unit of the figure. A pattern has several of these groups if it has
// alternatives.
func isUnit(group string) bool { return strings.HasPrefix(group, "unit") }

// groups returns the number in a match and its unit. The unit is empty if no group contains it.
func groups(re *regexp.Regexp, match []string) (number, unit string) {
	for i, name := range re.SubexpNames() {
		switch {
		case i == 0 || match[i] == "":
		case isUnit(name) && unit == "":
			unit = match[i]
		case !isUnit(name) && number == "":
			number = match[i]
		}
	}
	return number, unit
}

// CheckPattern returns an error if a pattern of a figure is not valid.
func CheckPattern(pattern string) error {
	re, err := compile(pattern)
	if err != nil {
		return err
	}
	return checkGroups(re)
}

// CheckLinePattern returns an error if a pattern that only selects a line is not valid.
func CheckLinePattern(pattern string) error {
	_, err := compile(pattern)
	return err
}

func checkGroups(re *regexp.Regexp) error {
	for i, name := range re.SubexpNames() {
		if i > 0 && !isUnit(name) {
			return nil
		}
	}
	return errors.New("the pattern has no group for the number: put the number in parentheses, such as rate: ([0-9.]+)")
}

func compile(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes, but may have at most %d", len(pattern), maxPattern)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("is not a valid regular expression (RE2): %w", err)
	}
	if programSize(parsed) > maxProgram {
		return nil, fmt.Errorf("the pattern is too large: with repetitions such as x{50} written out it may have at most %d steps", maxProgram)
	}
	return regexp.Compile(pattern)
}

// programSize estimates the number of instructions of a compiled pattern. It does not compile the pattern, because a short
// pattern can have a large program.
func programSize(re *syntax.Regexp) int {
	size := 1
	if re.Op == syntax.OpLiteral {
		size = len(re.Rune)
	}
	for _, sub := range re.Sub {
		size += programSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Max, re.Min+1)
	}
	return size
}
