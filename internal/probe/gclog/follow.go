package gclog

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// maxPauses bounds what is remembered: the newest stay. At a pause a second it is 18 hours.
const maxPauses = 1 << 16

// headSize is how much is read of a file that is older than what is asked for: the JVM says near the beginning of
// its log how large G1's regions are.
const headSize = 16 << 10

// Follower reads a log when it is asked, and only what was added since. A log that the JVM has put aside for a new
// one (gc.log.0, gc.log.1, ...) is read to its end under its new name. It is safe for concurrent use.
type Follower struct {
	path   string
	mu     sync.Mutex
	parser Parser
	read   map[uint64]int64 // bytes taken in, by inode
	pauses []Pause
}

// NewFollower follows the log at a path, which need not be there yet.
func NewFollower(path string) *Follower { return &Follower{path: path, read: map[uint64]int64{}} }

// Between gives the pauses that ended within [from, to), oldest first; found is false when there is no log.
func (f *Follower) Between(from, to time.Time) (pauses []Pause, found bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	files, err := f.files()
	if err != nil || len(files) == 0 {
		return nil, false, err
	}
	for _, file := range files {
		if err := f.take(file, from); err != nil {
			return nil, false, err
		}
	}
	for _, p := range f.pauses {
		if !p.At.Before(from) && p.At.Before(to) {
			pauses = append(pauses, p)
		}
	}
	slices.SortStableFunc(pauses, func(a, b Pause) int { return a.At.Compare(b.At) })
	return pauses, true, nil
}

type file struct {
	path    string
	inode   uint64
	size    int64
	changed time.Time
}

// files are the log and what was put aside of it, oldest first.
func (f *Follower) files() ([]file, error) {
	old, err := filepath.Glob(f.path + ".[0-9]*")
	if err != nil {
		return nil, err
	}
	var out []file
	for _, path := range append(old, f.path) {
		info, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		n := file{path: path, size: info.Size(), changed: info.ModTime()}
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			n.inode = s.Ino
		}
		out = append(out, n)
	}
	slices.SortStableFunc(out, func(a, b file) int { return a.changed.Compare(b.changed) })
	return out, nil
}

// take reads what is new in a file; of one that was not written to since from, only what its head says of the heap.
func (f *Follower) take(n file, from time.Time) error {
	offset := f.read[n.inode]
	if n.size < offset { // another file under an inode that was given back
		offset = 0
	}
	if n.size == offset {
		return nil
	}
	log, err := os.Open(n.path)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	if info, err := log.Stat(); err == nil {
		if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Ino != n.inode {
			return nil // put aside meanwhile: the next time finds it under its new name
		}
	}
	if n.changed.Before(from) {
		head := Follower{} // its pauses are not wanted: they are read when an earlier window is asked for
		if _, err := head.lines(io.NewSectionReader(log, 0, headSize)); err == nil && head.parser.region > 0 {
			f.parser.region = head.parser.region
		}
		return nil
	}
	taken, err := f.lines(io.NewSectionReader(log, offset, n.size-offset))
	f.read[n.inode] = offset + taken
	return err
}

// lines takes in whole lines and says how many bytes they were. What of a line does not fit the buffer is skipped.
func (f *Follower) lines(r io.Reader) (taken int64, err error) {
	buffer := bufio.NewReaderSize(r, 64<<10)
	rest := false // of a line that did not fit
	for {
		line, err := buffer.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return taken, nil // the JVM has not finished this line
		case errors.Is(err, bufio.ErrBufferFull):
			taken += int64(len(line))
			rest = true
			continue
		case err != nil:
			return taken, err
		}
		taken += int64(len(line))
		if !rest {
			if p, ok := f.parser.Line(line[:len(line)-1]); ok {
				f.pauses = append(f.pauses, p)
			}
		}
		rest = false
		if len(f.pauses) > 2*maxPauses {
			f.pauses = append(f.pauses[:0], f.pauses[len(f.pauses)-maxPauses:]...)
		}
	}
}
