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

// number reads a decimal number that is not negative. What looks like a number of another notation is refused
// with a hint rather than guessed at: 336,527 is not 336.527.
func number(s string) (float64, error) {
	switch {
	case decimal.MatchString(s):
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsInf(f, 0) {
			return 0, fmt.Errorf("%q is too large for a number", s)
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
		return 0, fmt.Errorf("%q is no number: leave the field empty where nothing was measured", s)
	}
	return 0, fmt.Errorf("%q is no number", s)
}

// whole reads an integer; 16.0 is one.
func whole(s string, limit int64) (int64, error) {
	f, err := number(s)
	switch {
	case err != nil:
		return 0, err
	case f != math.Trunc(f):
		return 0, fmt.Errorf("%q is not a whole number", s)
	case f > float64(limit):
		return 0, fmt.Errorf("%q is above %d", s, limit)
	}
	return int64(f), nil
}

// roundedUp reads a number that is not negative as the next whole one: of a mean that is not 0 some were counted.
func roundedUp(s string) (int64, error) {
	f, err := number(s)
	if err != nil {
		return 0, err
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil // to the last digit, which a float64 may not have
	}
	if f >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is above %d", s, int64(math.MaxInt64))
	}
	return int64(math.Ceil(f)), nil
}

// label is a name as it is; of numbers 1, 01 and 1.0 are one.
func label(s string) string {
	if m := numbered.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return s
}

// count reads an integer from 1.
func count(s string) (int32, error) {
	n, err := whole(s, math.MaxInt32)
	if err == nil && n == 0 {
		err = fmt.Errorf("%q: it counts from 1", s)
	}
	return int32(n), err
}

// name refuses what a terminal or JSON would not show as it is.
func name(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("the text is not UTF-8")
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		return fmt.Errorf("%q holds a character that cannot be printed", s)
	}
	return nil
}

// printable makes one line of a text that is only shown.
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

// Percent reads a flag's percentage as the decimal of a gate.
func Percent(s string) (*v1alpha1.Decimal, error) {
	if _, err := number(s); err != nil {
		return nil, err
	}
	return v1alpha1.ToDecimal(s), nil
}
