package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// memoryEvery is how often memory is looked at: the kernel walks a process's pages for it.
const memoryEvery = 10 * time.Second

// memory is what all descendants together have in memory at a time.
type memory struct {
	at    time.Time
	bytes int64
}

// MaxMemory is the most that all descendants together had in memory within a window, in bytes, as far as was looked at;
// the last look before the window counts.
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

// total adds up what processes have in memory. A page that several share, as those do that were forked from one,
// counts once (proportional set size); where the kernel does not tell that, resident memory stands in.
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

// proportional reads the Pss of smaps_rollup, see proc(5), in bytes.
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
