package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// FormatInteger formats a number without thousands separators.
func FormatInteger[T ~int | ~int32 | ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// FormatRounded formats a number, rounded to an integer.
func FormatRounded(f float64) string { return strconv.FormatFloat(f, 'f', 0, 64) }

// FormatCount formats a number with its noun, in the plural unless n is 1.
func FormatCount(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// OrDash returns s, or a dash if s is empty.
func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// PercentOrDash formats a percentage. It returns a dash if the percentage is unknown.
func PercentOrDash(f *float64) string {
	if f == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", *f)
}

// FormatClock formats a number of seconds as a duration, rounded to seconds. It returns an empty text if seconds is nil.
func FormatClock(seconds *float64) string {
	if seconds == nil {
		return ""
	}
	return time.Duration(*seconds * float64(time.Second)).Round(time.Second).String()
}

// Shorten returns the first line of s, cut to n characters.
func Shorten(s string, n int) string {
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > n {
		return string(r[:n-3]) + "..."
	}
	return s
}
