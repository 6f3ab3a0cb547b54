package driver

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var (
	plainNumber = regexp.MustCompile(`^\d+(\.\d+)?([eE][+-]?\d+)?$`)
	// 19565,78; three decimals could be thousands
	commaNumber = regexp.MustCompile(`^\d+,(\d{1,2}|\d{4,})$`)
	// 19,565.78 19.565,78 19 565,78 19'565.78
	groupedNumber = regexp.MustCompile(`^\d{1,3}(,\d{3})+\.\d+$|^\d{1,3}(\.\d{3})+,\d+$|^\d{1,3}([\x{a0}\x{202f}'\x{2019}]\d{3})+[.,]\d+$`)
	groupedWhole  = regexp.MustCompile(`^\d{1,3}(,\d{3})+$|^\d{1,3}(\.\d{3})+$|^\d{1,3}([\x{a0}\x{202f}'\x{2019}]\d{3})+$`)
)

// decimal reads a number as any locale prints it, with or without separators of thousands. One that can be read in two ways
// is an error: 19,565 is nineteen thousand in one place and nineteen in another.
func decimal(text string) (float64, error) {
	number := text
	switch {
	case plainNumber.MatchString(text):
	case commaNumber.MatchString(text):
		number = strings.Replace(text, ",", ".", 1)
	case groupedNumber.MatchString(text):
		point := strings.LastIndexAny(text, ".,")
		number = digits(text[:point]) + "." + text[point+1:]
	default:
		return 0, fmt.Errorf("%q is no number, or can be read as two", text)
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number: %w", text, err)
	}
	return value, nil
}

// wholeNumber reads a count, with or without separators of thousands.
func wholeNumber(text string) (int64, error) {
	number := text
	if groupedWhole.MatchString(text) {
		number = digits(text)
	}
	if number == "" || digits(number) != number {
		return 0, fmt.Errorf("%q is no whole number", text)
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no whole number: %w", text, err)
	}
	return n, nil
}

// digits are a text's digits alone.
func digits(text string) string {
	return strings.Map(func(c rune) rune {
		if c < '0' || c > '9' {
			return -1
		}
		return c
	}, text)
}

// firstWord is a text up to its first blank.
func firstWord(text string) string {
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i]
	}
	return text
}

// lastDigit is the worth of the last decimal of a printed number; 0 when it was printed with all that it has.
func lastDigit(text string) float64 {
	i := strings.LastIndexAny(text, ".,")
	if i < 0 || strings.ContainsAny(text, "eE") {
		return 0
	}
	return math.Pow(10, float64(i+1-len(text)))
}
