// Package data holds the published figures of five documents about benchmarks: numbers and short labels. README.md
// describes the files.
package data

import "embed"

// Files are the files of this folder.
//
//go:embed *.csv *.json *.txt
var Files embed.FS
