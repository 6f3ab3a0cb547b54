package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// fixed prints a figure with so many decimals, and nothing when it is no number.
func fixed(f float64, decimals int) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return ""
	}
	return strconv.FormatFloat(f, 'f', decimals, 64)
}

// figure prints a figure with at most three decimals, without trailing zeros; nothing when it is no number.
func figure(f float64) string { return trimmed(f, 3) }

func trimmed(f float64, decimals int) string {
	s := fixed(f, decimals)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// known prints a figure for which 0 stands for not measured.
func known(f float64) string {
	if f == 0 {
		return ""
	}
	return figure(f)
}

func knownInt(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// strong marks a text that is to be seen first.
func strong(s string) string {
	if s == "" {
		return ""
	}
	return "**" + s + "**"
}

// rounded prints docs/s as people read it.
func rounded(f float64) string { return fixed(f, 0) }

// brief prints a figure with as many decimals as its size calls for.
func brief(f float64) string {
	switch {
	case math.Abs(f) >= 1000:
		return fixed(f, 0)
	case math.Abs(f) >= 10:
		return trimmed(f, 1)
	}
	return figure(f)
}

// timestamp prints Unix milliseconds in RFC 3339, UTC; nothing for 0.
func timestamp(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// clock prints Unix milliseconds as people read a time, UTC; nothing for 0.
func clock(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05")
}

// duration prints seconds as hours, minutes and seconds.
func duration(seconds float64) string {
	return time.Duration(math.Round(seconds) * float64(time.Second)).String()
}

// percent prints a share of 0 to 1 as a percentage.
func percent(share float64, decimals int) string { return fixed(100*share, decimals) + " %" }

// interval prints the bounds of an interval with the decimals that its width calls for; more when rounding would
// make it seem to hold 1, or not to.
func interval(low, high float64) string {
	decimals := 2
	if width := high - low; width > 0 {
		decimals = min(max(int(math.Ceil(-math.Log10(width))), 2), 4)
	}
	for ; ; decimals++ {
		scale := math.Pow10(decimals)
		l, h := math.Round(low*scale)/scale, math.Round(high*scale)/scale
		if decimals >= 6 || (l > 1) == (low > 1) && (h < 1) == (high < 1) {
			return fmt.Sprintf("[%s, %s]", fixed(l, decimals), fixed(h, decimals))
		}
	}
}

// cut bounds a text to n bytes.
func cut(s string, n int) string {
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

// line makes one line of a text.
//
// What a terminal or a page would obey rather than show becomes a blank: a text may come from anywhere.
func line(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }), " ")
}

// bounded cuts a document at a line's end and says so.
func bounded(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const note = "\n\n**Cut here: the rest is too large for a ConfigMap. results.csv holds every figure.**\n"
	s = s[:n-len(note)]
	return s[:strings.LastIndex(s, "\n")+1] + note
}

// signed prints a figure with its sign.
func signed(f float64, decimals int) string {
	if f > 0 {
		return "+" + fixed(f, decimals)
	}
	return fixed(f, decimals)
}

// integers lists numbers.
func integers(numbers []int32) string {
	list := make([]string, len(numbers))
	for i, n := range numbers {
		list[i] = integer(n)
	}
	return strings.Join(list, ", ")
}

// listed joins a list and counts what is beyond its first items.
func listed(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
