package probe

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// searchEvery is how many samples pass between two looks for OpenSearch's process while there is none.
const searchEvery = 10

// search finds OpenSearch's process among those of its pod, whose containers share their process namespace. Where
// they do not share it, none is found.
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

// mainClass begins the name of OpenSearch's main class, an argument of its own on the command line
// (distribution/src/bin/opensearch). Other Java processes are not it: the official image starts the agent of its
// Performance Analyzer before.
var mainClass = []byte("org.opensearch.bootstrap.")

// find is the process that runs OpenSearch; of several, which is for a moment at most, that of most resident memory.
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
