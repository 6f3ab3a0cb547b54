package process

import (
	"os"
	"testing"
	"time"
)

func TestProportional(t *testing.T) {
	for text, want := range map[string]int64{
		"00400000-7fff [rollup]\nRss:  9000 kB\nPss:                1234 kB\nPss_Dirty:  7 kB\n": 1234 << 10,
		"Pss: 0 kB": 0, "Pss_Anon: 4 kB\n": -1, "": -1, "Pss: x kB": -1, "Pss: -4 kB": -1,
	} {
		got, ok := proportional([]byte(text))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q gives %d, %v", text, got, ok)
		}
	}
	own := Info{PID: os.Getpid(), Pages: 1}
	if n := total([]Info{own}); n < 1<<20 || n > 1<<30 {
		t.Errorf("this program has %d bytes in memory", n)
	}
	if n := total([]Info{{PID: 1 << 30, Pages: 3}}); n != 3*int64(os.Getpagesize()) {
		t.Errorf("a process that tells nothing has %d bytes", n)
	}
}

func TestMaxMemory(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	u := NewUsage()
	for i, bytes := range []int64{900, 100, 300, 200, 800} {
		u.memory = append(u.memory, memory{at(10 * i), bytes})
	}
	for name, c := range map[string]struct {
		from, to int
		want     int64
	}{"within": {10, 30, 300}, "between two looks": {12, 15, 100}, "after the last": {50, 60, 800}, "before the first": {-20, -10, 0}, "all": {-20, 60, 900}} {
		if got := u.MaxMemory(at(c.from), at(c.to)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
