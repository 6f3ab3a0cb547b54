package parser

import (
	"fmt"
	"math"
	"strings"

	"github.com/knee-bench/knee/internal/drivers/output"
)

// times lists the units of time in ns.
var times = map[string]float64{
	"ns": 1, "nanosecond": 1, "nanoseconds": 1,
	"us": 1e3, "\u00b5s": 1e3, "\u03bcs": 1e3, "microsecond": 1e3, "microseconds": 1e3,
	"ms": 1e6, "msec": 1e6, "millisecond": 1e6, "milliseconds": 1e6,
	"s": 1e9, "sec": 1e9, "secs": 1e9, "second": 1e9, "seconds": 1e9,
	"m": 60e9, "min": 60e9, "minute": 60e9, "minutes": 60e9,
	"h": 3600e9, "hour": 3600e9, "hours": 3600e9,
}

// multipliers lists the prefixes of units.
var multipliers = map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}

// convert reads a printed number and converts it to a unit. suffix is the printed unit; if it is empty, the unit may follow the
// digits of the number, as in 3.2ms or 12k. A count has no decimals, so its separators can only separate thousands.
func convert(text, suffix, unit string, whole bool) (value, resolution float64, err error) {
	if suffix == "" {
		end := strings.LastIndexAny(text, "0123456789") + 1
		text, suffix = text[:end], text[end:]
		if end == 0 {
			return 0, 0, fmt.Errorf("%.60q is no number", suffix)
		}
	}
	factor, err := factorOf(strings.TrimSpace(suffix), unit)
	if err != nil {
		return 0, 0, err
	}
	digits, negative := strings.CutPrefix(text, "-")
	if n, wholeErr := output.WholeNumber(digits); whole && wholeErr == nil {
		value = float64(n)
	} else if value, err = output.Decimal(digits); err != nil {
		return 0, 0, err
	}
	value *= factor
	if math.IsInf(value, 0) {
		return 0, 0, fmt.Errorf("%.60q is too large", text)
	}
	if negative {
		value = -value
	}
	return value, factor * lastDigit(digits), nil
}

// lastDigit returns the value of the last printed digit: 1 for a number without decimals. It returns 0 for a number with an
// exponent.
func lastDigit(digits string) float64 {
	if strings.ContainsAny(digits, "eE") {
		return 0
	}
	if digit := output.LastDigit(digits); digit > 0 {
		return digit
	}
	return 1
}

// factorOf returns the factor that converts a printed unit to the unit of a figure. A unit of time is converted to a unit of
// time. Any other figure may have a prefix such as k, M or Mi, with or without the unit.
func factorOf(printed, unit string) (float64, error) {
	if printed == "" || printed == unit {
		return 1, nil
	}
	if to, isTime := times[unit]; isTime {
		if from, known := times[printed]; known {
			return from / to, nil
		}
		return 0, fmt.Errorf("the unit %.60q is not a unit of time", printed)
	}
	if factor, known := multipliers[strings.TrimSuffix(printed, unit)]; known {
		return factor, nil
	}
	return 0, fmt.Errorf("the unit %.60q is not known: the figure is in %q, and may have one of the prefixes k, M, G, T, Ki, Mi, Gi and Ti", printed, unit)
}
