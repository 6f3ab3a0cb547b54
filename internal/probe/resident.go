package probe

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// searchEvery is how many samples pass between two looks for OpenSearch's process while there is none.
const searchEvery = 10

// search finds OpenSearch's process among those of its pod, whose containers share their process namespace, and
// reads its resident memory. Where they do not share it, none is found.
type search struct {
	proc string
	pid  string // of the process; empty when there is none
	wait int    // samples until the next look
}

func newSearch(proc string) *search { return &search{proc: proc} }

// resident is the process's resident memory in bytes, mapped files included; 0 when there is no process.
func (s *search) resident() int64 {
	if s.pid != "" {
		if n := s.of(s.pid); n > 0 {
			return n
		}
		s.pid, s.wait = "", 0 // it has ended
	}
	if s.wait > 0 {
		s.wait--
		return 0
	}
	s.wait = searchEvery
	var most int64
	s.pid, most = s.find()
	return most
}

// find is the Java process of most resident memory: a plugin may have a small one beside OpenSearch.
func (s *search) find() (pid string, most int64) {
	names, _ := filepath.Glob(filepath.Join(s.proc, "[0-9]*", "comm"))
	for _, name := range names {
		comm, err := os.ReadFile(name)
		if err != nil || string(bytes.TrimSpace(comm)) != "java" {
			continue
		}
		id := filepath.Base(filepath.Dir(name))
		if n := s.of(id); n > most {
			pid, most = id, n
		}
	}
	return pid, most
}

// of reads a process's resident memory from its statm, see proc(5): the second figure, in pages.
func (s *search) of(pid string) int64 {
	data, err := os.ReadFile(filepath.Join(s.proc, pid, "statm"))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(data)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil || pages < 0 {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
