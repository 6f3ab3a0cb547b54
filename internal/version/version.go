// Package version is the version of Knee's programs, set by the linker.
package version

// Version is a release's tag, or dev.
var Version = "dev"
