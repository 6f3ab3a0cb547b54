package output

import (
	"regexp"
	"strings"
)

// byteUnit matches units of bytes or bits, with or without a time: MiB/s, MBps, Mbit/s, bytes per second.
var byteUnit = regexp.MustCompile(`(?i)^([kmgtpe]i?|kilo|mega|giga|tera|peta|kibi|mebi|gibi|tebi|pebi)?(b|bytes?|bits?)(ps|[/ .].*)?$`)

// IsBytes reports whether the unit of a throughput counts bytes or bits. Such a throughput is not a rate of operations.
func IsBytes(unit string) bool { return byteUnit.MatchString(strings.TrimSpace(unit)) }
