// Package openfiles makes OpenSearch start on machines with a low limit of open files. With several nodes, OpenSearch
// requires a higher limit, and some machines do not allow to raise it. There, containers get a faked answer when they
// read their limit, so a cluster of several small nodes starts. A process that opens more files than the machine allows
// still fails.
//
// The container's seccomp profile stops the call that reads the limit, and the supervisor answers instead of the kernel
// (seccomp_unotify(2)). Refusing the call is not enough: the network code of Java does not start without an answer.
package openfiles

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Wanted is a sufficient number of open files: OpenSearch's bootstrap checks require 65,535.
const Wanted = 65536

// Raise raises the limit of this process and of its future children. The new limit is the larger one of Wanted and the
// current maximum. Without permission it is the current maximum. Raise returns the new limit.
func Raise() (uint64, error) {
	var is unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &is); err != nil {
		return 0, err
	}
	most := max(is.Max, Wanted)
	err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: most})
	if errors.Is(err, unix.EPERM) { // the process lacks CAP_SYS_RESOURCE
		most = is.Max
		err = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: most})
	}
	return most, err
}
