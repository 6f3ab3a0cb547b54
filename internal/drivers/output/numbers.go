package output

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var (
	plainNumber = regexp.MustCompile(`^\d+(\.\d+)?([eE][+-]?\d+)?$`)
	// commaNumber matches numbers such as 19565,78. It excludes three digits after the comma, because the comma could
	// separate thousands.
	commaNumber = regexp.MustCompile(`^\d+,(\d{1,2}|\d{4,})$`)
	// groupedNumber matches numbers such as 19,565.78 19.565,78 19 565,78 19'565.78.
	groupedNumber = regexp.MustCompile(`^\d{1,3}(,\d{3})+\.\d+$|^\d{1,3}(\.\d{3})+,\d+$|^\d{1,3}([\x{a0}\x{202f}'\x{2019}]\d{3})+[.,]\d+$`)
	groupedWhole  = regexp.MustCompile(`^\d{1,3}(,\d{3})+$|^\d{1,3}(\.\d{3})+$|^\d{1,3}([\x{a0}\x{202f}'\x{2019}]\d{3})+$`)
)

// Decimal parses a number in the format of any locale, with or without thousands separators. It returns an error if the
// number has two possible meanings: 19,565 is nineteen thousand in one locale and nineteen in another.
func Decimal(text string) (float64, error) {
	number := text
	switch {
	case plainNumber.MatchString(text):
	case commaNumber.MatchString(text):
		number = strings.Replace(text, ",", ".", 1)
	case groupedNumber.MatchString(text):
		point := strings.LastIndexAny(text, ".,")
		number = digits(text[:point]) + "." + text[point+1:]
	default:
		return 0, fmt.Errorf("%q is no number, or it is not clear whether its separator marks decimals or thousands", text)
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number: %w", text, err)
	}
	return value, nil
}

// WholeNumber parses an integer, with or without thousands separators.
func WholeNumber(text string) (int64, error) {
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

// digits returns the digits of a text and omits all other characters.
func digits(text string) string {
	return strings.Map(func(c rune) rune {
		if c < '0' || c > '9' {
			return -1
		}
		return c
	}, text)
}

// FirstWord returns the part of a text before the first blank or tab.
func FirstWord(text string) string {
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i]
	}
	return text
}

// LastDigit returns the place value of the last printed decimal digit, for example 0.01. It returns 0 if the number has no
// decimals or has an exponent.
func LastDigit(text string) float64 {
	i := strings.LastIndexAny(text, ".,")
	if i < 0 || strings.ContainsAny(text, "eE") {
		return 0
	}
	return math.Pow(10, float64(i+1-len(text)))
}
