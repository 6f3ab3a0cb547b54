// Package version holds the version of Knee's programs.
package version

// Version is the tag of the release. The linker sets it. If the linker does not set it, it is "dev".
var Version = "dev"
