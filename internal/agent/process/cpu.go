package process

import (
	"fmt"
	"os"
	"sort"
	"time"

	"golang.org/x/sys/unix"
)

// ticksPerSecond is USER_HZ, the unit of CPU time in /proc. It is 100 on every Linux architecture that Go supports.
const ticksPerSecond = 100

// Usage records the CPU time of each descendant process, and the total memory of all descendants, during a load. Both can be
// read later for any window. Usage is not safe for concurrent use.
type Usage struct {
	series map[int]*series
	memory []memory

	alive, stopped int // number of processes in the last sample
}

type series struct {
	name   string
	points []point
}

type point struct {
	at    time.Time
	ticks uint64
}

// NewUsage returns an empty Usage.
func NewUsage() *Usage { return &Usage{series: map[int]*series{}} }

// Sample records the CPU time of every descendant, and their memory at longer intervals.
func (u *Usage) Sample() {
	now := time.Now()
	all := Descendants(os.Getpid())
	u.alive, u.stopped = 0, 0
	for _, p := range all {
		u.add(p, now)
		if !p.Zombie {
			u.alive++
		}
		if p.Stopped {
			u.stopped++
		}
	}
	if n := len(u.memory); n == 0 || now.Sub(u.memory[n-1].at) >= memoryEvery {
		u.memory = append(u.memory, memory{now, total(all)})
	}
}

func (u *Usage) add(p Info, now time.Time) {
	if p.Zombie {
		return
	}
	s := u.series[p.PID]
	if s == nil {
		s = &series{}
		u.series[p.PID] = s
	}
	s.name = p.Name
	if n := len(s.points); n > 1 && s.points[n-1].ticks == p.Ticks && s.points[n-2].ticks == p.Ticks {
		s.points[n-1].at = now // an idle process needs only two points: the start and the end of its idle time
		return
	}
	s.points = append(s.points, point{now, p.Ticks})
}

// Total returns the CPU time that all processes had used at the last sample, including processes that have ended.
func (u *Usage) Total() time.Duration {
	ticks := uint64(0)
	for _, s := range u.series {
		ticks += s.points[len(s.points)-1].ticks - s.points[0].ticks
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond
}

// State describes the number of processes at the last sample, for an error message.
func (u *Usage) State() string {
	return fmt.Sprintf("%d processes of the program exist, %d of them stopped by a signal", u.alive, u.stopped)
}

// Process is the mean CPU of one process in a window, in percent of one core.
type Process struct {
	Name    string // name and process ID
	Percent float64
}

// Between returns the mean CPU of each process in a window, busiest process first.
func (u *Usage) Between(from, to time.Time) []Process {
	seconds := to.Sub(from).Seconds()
	if seconds <= 0 {
		return nil
	}
	var out []Process
	for pid, s := range u.series {
		ticks := s.at(to) - s.at(from)
		out = append(out, Process{fmt.Sprintf("%s/%d", s.name, pid), 100 * max(0, ticks) / ticksPerSecond / seconds})
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Percent != out[j].Percent {
			return out[i].Percent > out[j].Percent
		}
		return out[i].Name < out[j].Name
	})
	return out
}

// at interpolates the CPU ticks at a time. Before the first and after the last point, it returns the ticks of the nearest
// point.
func (s *series) at(t time.Time) float64 {
	i := sort.Search(len(s.points), func(i int) bool { return !s.points[i].at.Before(t) })
	switch {
	case i == 0:
		return float64(s.points[0].ticks)
	case i == len(s.points):
		return float64(s.points[i-1].ticks)
	}
	a, b := s.points[i-1], s.points[i]
	share := t.Sub(a.at).Seconds() / b.at.Sub(a.at).Seconds()
	return float64(a.ticks) + share*float64(b.ticks-a.ticks)
}

// OwnCPU returns the CPU time that this process itself has used.
func OwnCPU() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
