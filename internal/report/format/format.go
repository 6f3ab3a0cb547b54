// Package format formats numbers, durations and short texts for reports.
package format

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Fixed formats a number with the given number of decimals. It returns an empty text for NaN and infinity.
func Fixed(f float64, decimals int) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return ""
	}
	return strconv.FormatFloat(f, 'f', decimals, 64)
}

// Figure formats a number with at most three decimals and without trailing zeros. It returns an empty text for NaN and infinity.
func Figure(f float64) string { return Trimmed(f, 3) }

// Trimmed formats a number with at most the given number of decimals and without trailing zeros.
func Trimmed(f float64, decimals int) string {
	s := Fixed(f, decimals)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// OrEmpty formats a number. It returns an empty text for 0, which means that the number was not measured.
func OrEmpty(f float64) string {
	if f == 0 {
		return ""
	}
	return Figure(f)
}

// IntOrEmpty formats an integer. It returns an empty text for 0, which means that the number was not measured.
func IntOrEmpty(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// Strong puts a text between the marks for strong text. An empty text stays empty.
func Strong(s string) string {
	if s == "" {
		return ""
	}
	return "**" + s + "**"
}

// Rounded formats a number without decimals.
func Rounded(f float64) string { return Fixed(f, 0) }

// Significant formats a number with about three significant digits.
func Significant(f float64) string {
	switch {
	case math.Abs(f) >= 1000:
		return Fixed(f, 0)
	case math.Abs(f) >= 10:
		return Trimmed(f, 1)
	}
	return Figure(f)
}

// Timestamp formats Unix milliseconds as RFC 3339 in UTC. It returns an empty text for 0.
func Timestamp(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// Clock formats Unix milliseconds as date and time in UTC. It returns an empty text for 0.
func Clock(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05")
}

// Duration formats seconds as hours, minutes and seconds.
func Duration(seconds float64) string {
	return time.Duration(math.Round(seconds) * float64(time.Second)).String()
}

// Percent formats a share from 0 to 1 as a percentage.
func Percent(share float64, decimals int) string { return Fixed(100*share, decimals) + " %" }

// Interval formats the bounds of an interval. The number of decimals depends on the width of the interval. There are more decimals
// if rounding would move a bound to the other side of 1.
func Interval(low, high float64) string {
	decimals := 2
	if width := high - low; width > 0 {
		decimals = min(max(int(math.Ceil(-math.Log10(width))), 2), 4)
	}
	for ; ; decimals++ {
		scale := math.Pow10(decimals)
		l, h := math.Round(low*scale)/scale, math.Round(high*scale)/scale
		if decimals >= 6 || (l > 1) == (low > 1) && (h < 1) == (high < 1) {
			return fmt.Sprintf("[%s, %s]", Fixed(l, decimals), Fixed(h, decimals))
		}
	}
}

// Shorten limits a text to n bytes.
func Shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const end = "..."
	s = s[:max(n-len(end), 0)]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + end
}

// OneLine replaces line breaks and control characters of a text by spaces, because the text can come from another program.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }), " ")
}

// CutDocument limits a document to n bytes. It cuts the document at the end of a line and adds a note.
func CutDocument(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const note = "\n\n**This document ends here, because the rest does not fit into a ConfigMap. results.csv has every figure.**\n"
	s = s[:n-len(note)]
	return s[:strings.LastIndex(s, "\n")+1] + note
}

// Signed formats a number with its sign.
func Signed(f float64, decimals int) string {
	if f > 0 {
		return "+" + Fixed(f, decimals)
	}
	return Fixed(f, decimals)
}

// IntList formats a list of integers.
func IntList(numbers []int32) string {
	list := make([]string, len(numbers))
	for i, n := range numbers {
		list[i] = IntText(n)
	}
	return strings.Join(list, ", ")
}

// FirstItems joins the first items of a list. If items are left out, it adds their number.
func FirstItems(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// IntText formats an integer.
func IntText(n int32) string { return strconv.Itoa(int(n)) }

// PerSide formats two counts, for example "4 runs each" or "4 and 3 runs".
func PerSide(n, m int, what string) string {
	if n == m {
		return Plural(n, what) + " each"
	}
	return fmt.Sprintf("%d and %s", n, Plural(m, what))
}

// Plural returns the number n and a noun. The noun has an s unless n is 1.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Distinct returns the sorted values without duplicates.
func Distinct(values []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

// NonZero returns f. It returns NaN for 0, which means that the number was not measured.
func NonZero(f float64) float64 {
	if f == 0 {
		return math.NaN()
	}
	return f
}
