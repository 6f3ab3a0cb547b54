package probe

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// searchEvery is the number of samples between two searches for the OpenSearch process.
const searchEvery = 10

// search finds the OpenSearch process among the processes of its pod. The containers of the pod must share their process
// namespace.
type search struct {
	proc string
	pid  string // ID of the OpenSearch process; empty: not found
	wait int    // number of samples until the next search
}

func newSearch(proc string) *search { return &search{proc: proc} }

// resident returns the resident memory of the OpenSearch process in bytes, including mapped files. It returns 0 if there is
// no such process.
func (s *search) resident() int64 {
	if s.pid != "" {
		if n := s.of(s.pid); n > 0 {
			return n
		}
		s.pid, s.wait = "", 0 // the process has ended
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

// mainClass is the prefix of OpenSearch's main class. The main class is an argument of the command line
// (distribution/src/bin/opensearch). This distinguishes OpenSearch from another Java process that the official image starts
// first: the agent of the Performance Analyzer.
var mainClass = []byte("org.opensearch.bootstrap.")

// find returns the process that runs OpenSearch and its resident memory. For a moment there may be several such processes.
// Then it returns the process with the most resident memory.
func (s *search) find() (pid string, most int64) {
	names, _ := filepath.Glob(filepath.Join(s.proc, "[0-9]*", "comm"))
	for _, name := range names {
		comm, err := os.ReadFile(name)
		if err != nil || string(bytes.TrimSpace(comm)) != "java" {
			continue
		}
		id := filepath.Base(filepath.Dir(name))
		if n := s.of(id); n > most && s.runsOpenSearch(id) {
			pid, most = id, n
		}
	}
	return pid, most
}

func (s *search) runsOpenSearch(pid string) bool {
	line, err := os.ReadFile(filepath.Join(s.proc, pid, "cmdline"))
	if err != nil {
		return false
	}
	for argument := range bytes.SplitSeq(line, []byte{0}) {
		if bytes.HasPrefix(argument, mainClass) {
			return true
		}
	}
	return false
}

// of returns the resident memory of a process in bytes. It reads the second field of statm, which is in pages; see proc(5).
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
