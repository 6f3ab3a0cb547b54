package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// memoryEvery is the interval between two samples of memory. It is long, because the kernel walks all pages of a process for
// each sample.
const memoryEvery = 10 * time.Second

// memory is the total memory of all descendants at one time.
type memory struct {
	at    time.Time
	bytes int64
}

// MaxMemory returns the highest sampled total memory of all descendants in a window, in bytes. The last sample before the
// window counts, too.
func (u *Usage) MaxMemory(from, to time.Time) int64 {
	var most int64
	for i, m := range u.memory {
		last := i+1 == len(u.memory) || u.memory[i+1].at.After(from)
		if (last || !m.at.Before(from)) && !m.at.After(to) {
			most = max(most, m.bytes)
		}
	}
	return most
}

// total sums the memory of processes. A page that several processes share, for example after a fork, counts only once
// (proportional set size). For a process without this figure, the resident memory is used.
func total(all []Info) int64 {
	var sum int64
	for _, p := range all {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p.PID))
		pss, ok := proportional(data)
		if err != nil || !ok {
			pss = int64(p.Pages) * int64(os.Getpagesize())
		}
		sum += pss
	}
	return sum
}

// proportional reads the field Pss of smaps_rollup, in bytes; see proc(5).
func proportional(rollup []byte) (int64, bool) {
	for line := range bytes.SplitSeq(rollup, []byte("\n")) {
		rest, found := bytes.CutPrefix(line, []byte("Pss:"))
		if !found {
			continue
		}
		kib, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(rest, []byte("kB")))), 10, 64)
		return kib << 10, err == nil && kib >= 0
	}
	return 0, false
}
