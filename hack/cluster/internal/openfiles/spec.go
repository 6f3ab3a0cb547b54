package openfiles

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

const (
	prlimit   = "prlimit64" // libc and Go's syscall package use it for getrlimit and for setrlimit
	getrlimit = "getrlimit" // Go's golang.org/x/sys/unix calls it

	containerType = "io.kubernetes.cri.container-type" // annotation of containerd; the sandbox of a pod has another value
)

// argument is a condition on an argument of a system call, in the format of the OCI runtime specification.
type argument struct {
	Index uint   `json:"index"`
	Value uint64 `json:"value"`
	Op    string `json:"op"`
}

type rule struct {
	Names  []string   `json:"names"`
	Action string     `json:"action"`
	Args   []argument `json:"args"`
}

// rules stop a process that reads its own limit of open files: prlimit64(0, RLIMIT_NOFILE, NULL, &limit) or
// getrlimit(RLIMIT_NOFILE, &limit). They allow all other calls: for another process, for another limit, or to set a
// limit.
var rules = []rule{
	{[]string{prlimit}, "SCMP_ACT_NOTIFY", []argument{
		{0, 0, "SCMP_CMP_EQ"}, {1, unix.RLIMIT_NOFILE, "SCMP_CMP_EQ"}, {2, 0, "SCMP_CMP_EQ"},
	}},
	{[]string{prlimit}, "SCMP_ACT_ALLOW", []argument{{0, 0, "SCMP_CMP_NE"}}},
	{[]string{prlimit}, "SCMP_ACT_ALLOW", []argument{{1, unix.RLIMIT_NOFILE, "SCMP_CMP_NE"}}},
	{[]string{prlimit}, "SCMP_ACT_ALLOW", []argument{{2, 0, "SCMP_CMP_NE"}}},
	{[]string{getrlimit}, "SCMP_ACT_NOTIFY", []argument{{0, unix.RLIMIT_NOFILE, "SCMP_CMP_EQ"}}},
	{[]string{getrlimit}, "SCMP_ACT_ALLOW", []argument{{0, unix.RLIMIT_NOFILE, "SCMP_CMP_NE"}}},
}

// Rewrite changes the seccomp profile in a container's OCI configuration (config.json): the kernel sends its
// notifications about the calls in rules to the socket. If the container is the sandbox of a pod, or has no profile,
// Rewrite returns the configuration unchanged.
func Rewrite(config []byte, socket string) ([]byte, error) {
	var spec map[string]any
	decoder := json.NewDecoder(bytes.NewReader(config))
	decoder.UseNumber() // otherwise large numbers would lose digits
	if err := decoder.Decode(&spec); err != nil {
		return nil, fmt.Errorf("the container's configuration: %w", err)
	}
	annotations, _ := spec["annotations"].(map[string]any)
	linux, _ := spec["linux"].(map[string]any)
	profile, _ := linux["seccomp"].(map[string]any)
	if profile == nil || annotations[containerType] != "container" {
		return config, nil
	}
	var calls []any
	old, _ := profile["syscalls"].([]any)
	for _, of := range old {
		if r, isRule := of.(map[string]any); isRule {
			names, _ := r["names"].([]any)
			names = slices.DeleteFunc(names, func(name any) bool { return name == prlimit || name == getrlimit })
			if len(names) == 0 {
				continue
			}
			r["names"] = names
		}
		calls = append(calls, of)
	}
	for _, r := range rules {
		calls = append(calls, r)
	}
	profile["syscalls"], profile["listenerPath"] = calls, socket
	return json.Marshal(spec)
}
