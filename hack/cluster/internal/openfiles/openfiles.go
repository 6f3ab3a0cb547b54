// Package openfiles is for machines that limit open files to fewer than OpenSearch of several nodes insists on, and give
// nobody the right to raise that. There the containers are told of the limit that they want: a stand-in, with which a
// cluster of several small nodes starts. A process that opens more files than the machine allows still fails.
//
// What asks for the limit is held up by the container's seccomp profile, and the supervisor answers in the kernel's
// stead (seccomp_unotify(2)). Refusing the call would not do: Java's network code does not start without an answer.
package openfiles

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Wanted is how many open files are enough: OpenSearch's bootstrap checks ask for 65,535.
const Wanted = 65536

// Raise raises this process's limit, and so that of what it starts, as far as it may and at least to Wanted where it
// may. It returns what the limit is now.
func Raise() (uint64, error) {
	var is unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &is); err != nil {
		return 0, err
	}
	most := max(is.Max, Wanted)
	err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: most})
	if errors.Is(err, unix.EPERM) { // without CAP_SYS_RESOURCE
		most = is.Max
		err = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: most})
	}
	return most, err
}
