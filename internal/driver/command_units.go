package driver

import (
	"regexp"
	"strings"
)

// byteUnit is one of bytes or bits, alone or over a time: MiB/s, MBps, Mbit/s, bytes per second.
var byteUnit = regexp.MustCompile(`(?i)^([kmgtpe]i?|kilo|mega|giga|tera|peta|kibi|mebi|gibi|tebi|pebi)?(b|bytes?|bits?)(ps|[/ .].*)?$`)

// ofBytes says whether a throughput's unit counts bytes or bits: then it is no rate of operations.
func ofBytes(unit string) bool { return byteUnit.MatchString(strings.TrimSpace(unit)) }
