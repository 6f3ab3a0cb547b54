package terminal

import (
	"fmt"
	"slices"
	"strings"
)

// UsageError is an error in the flags, arguments or files that the user gave.
type UsageError struct{ error }

// Unwrap returns the wrapped error.
func (u *UsageError) Unwrap() error { return u.error }

// AsUsageError converts an error to a UsageError.
func AsUsageError(err error) error {
	if err == nil {
		return nil
	}
	return &UsageError{err}
}

// Usagef formats a UsageError.
func Usagef(format string, args ...any) error { return AsUsageError(fmt.Errorf(format, args...)) }

// CheckFlagValue returns an error if a flag's value is not one of the allowed values.
func CheckFlagValue(flag, value string, values ...string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return Usagef("--%s must be one of %s, not %q", flag, strings.Join(slices.DeleteFunc(slices.Clone(values), func(s string) bool { return s == "" }), ", "), value)
}

// PanicOnError panics if err is not nil. It is for errors that only a programming mistake can cause.
func PanicOnError(err error) {
	if err != nil {
		panic(err)
	}
}
