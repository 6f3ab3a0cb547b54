package offline

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/knee-bench/knee/api/v1alpha1"
)

var (
	decimal   = regexp.MustCompile(`^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$`)
	thousands = regexp.MustCompile(`^\+?[0-9]{1,3}([,'_ \x{a0}\x{202f}][0-9]{3})+(\.[0-9]+)?$|^\+?[0-9]{1,3}(\.[0-9]{3})+,[0-9]+$|^[0-9]{1,3}(\.[0-9]{3}){2,}$`)
	numbered  = regexp.MustCompile(`^0*([0-9]+)(\.0*)?$`)
	comma     = regexp.MustCompile(`^\+?[0-9]+,[0-9]+$`)
)

// readNumber reads a decimal number that is not negative. It rejects other notations with a hint. For example, 336,527 could mean
// 336527 or 336.527.
func readNumber(s string) (float64, error) {
	switch {
	case decimal.MatchString(s):
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsInf(f, 0) {
			return 0, fmt.Errorf("%q is too large", s)
		}
		return f, nil
	case strings.HasPrefix(s, "-") && decimal.MatchString(s[1:]):
		return 0, fmt.Errorf("%q is negative", s)
	case thousands.MatchString(s):
		return 0, fmt.Errorf("%q has thousands separators: write the number without them", s)
	case comma.MatchString(s):
		return 0, fmt.Errorf("%q has a decimal comma: write a decimal point", s)
	case strings.HasSuffix(s, "%"):
		return 0, fmt.Errorf("%q: write the number without the percent sign", s)
	}
	switch strings.ToLower(strings.TrimLeft(s, "+-")) {
	case "nan", "inf", "infinity", "null", "none", "n/a", "na":
		return 0, fmt.Errorf("%q is not a number: leave the field empty if nothing was measured", s)
	}
	return 0, fmt.Errorf("%q is not a number", s)
}

// readWhole reads an integer from 0 to limit. It also accepts the form 16.0.
func readWhole(s string, limit int64) (int64, error) {
	f, err := readNumber(s)
	switch {
	case err != nil:
		return 0, err
	case f != math.Trunc(f):
		return 0, fmt.Errorf("%q is not a whole number", s)
	case f > float64(limit):
		return 0, fmt.Errorf("%q is above the maximum, %d", s, limit)
	}
	return int64(f), nil
}

// readRoundedUp reads a number that is not negative and rounds it up: a mean above 0 means that at least one rejection was
// counted.
func readRoundedUp(s string) (int64, error) {
	f, err := readNumber(s)
	if err != nil {
		return 0, err
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil // the integer keeps its last digit, which a float64 may lose
	}
	if f >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is above the maximum, %d", s, int64(math.MaxInt64))
	}
	return int64(math.Ceil(f)), nil
}

// readLabel reads a label. Whole numbers are written in one form: 1, 01 and 1.0 give the label 1. Any other text stays unchanged.
func readLabel(s string) string {
	if m := numbered.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return s
}

// readCount reads an integer of at least 1.
func readCount(s string) (int32, error) {
	n, err := readWhole(s, math.MaxInt32)
	if err == nil && n == 0 {
		err = fmt.Errorf("%q is too small: the count must be at least 1", s)
	}
	return int32(n), err
}

// readName returns an error if a name has characters that a terminal or JSON would not show unchanged.
func readName(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("the text is not UTF-8: save the file in UTF-8")
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		return fmt.Errorf("%q contains a character that cannot be printed: remove this character", s)
	}
	return nil
}

// printable replaces line breaks and unprintable characters of a text that is only displayed.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
}

func quoted(values []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, v := range values {
			if i == 20 {
				yield("...")
				return
			}
			if !yield(strconv.Quote(v)) {
				return
			}
		}
	}
}

// Percent parses the percentage of a command-line flag. The result has the type of a gate's limit.
func Percent(s string) (*v1alpha1.Decimal, error) {
	if _, err := readNumber(s); err != nil {
		return nil, err
	}
	return v1alpha1.ToDecimal(s), nil
}
