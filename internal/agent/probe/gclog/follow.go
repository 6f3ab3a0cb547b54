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

// maxPauses is the number of newest pauses that are always kept. At one pause per second, they cover 18 hours. When there are
// more than twice as many pauses, the older pauses are dropped.
const maxPauses = 1 << 16

// headSize is how many bytes of an older log file are read. The JVM reports the region size of G1 near the beginning of its
// log.
const headSize = 16 << 10

// Follower reads a log on request. Each time, it reads only the lines that were added since the last request. If the JVM
// rotated the log (gc.log.0, gc.log.1, ...), Follower finds the remaining lines under the new name. It is safe for concurrent
// use.
type Follower struct {
	path   string
	mu     sync.Mutex
	parser Parser
	read   map[uint64]int64 // number of bytes that were read, by inode
	pauses []Pause
}

// NewFollower returns a Follower of the log at a path. The log may be created later.
func NewFollower(path string) *Follower { return &Follower{path: path, read: map[uint64]int64{}} }

// Between returns the pauses that ended in [from, to), oldest first. found is false if there is no log.
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

// files returns the log file and its rotated files, oldest first.
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

// take reads the new lines of a file. If the last change of the file was before the time from, take reads only the beginning
// of the file, to find the region size of the heap.
func (f *Follower) take(n file, from time.Time) error {
	offset := f.read[n.inode]
	if n.size < offset { // a new file that has the inode number of a deleted file
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
			return nil // the file was rotated meanwhile: the next call finds it under its new name
		}
	}
	if n.changed.Before(from) {
		head := Follower{} // a separate Follower, because the pauses of this file are too old for this request; a request for an earlier window reads them
		if _, err := head.lines(io.NewSectionReader(log, 0, headSize)); err == nil && head.parser.region > 0 {
			f.parser.region = head.parser.region
		}
		return nil
	}
	taken, err := f.lines(io.NewSectionReader(log, offset, n.size-offset))
	f.read[n.inode] = offset + taken
	return err
}

// lines reads complete lines and returns the number of bytes that it read. It ignores a line that is longer than the buffer.
func (f *Follower) lines(r io.Reader) (taken int64, err error) {
	buffer := bufio.NewReaderSize(r, 64<<10)
	rest := false // whether the rest of a line longer than the buffer follows
	for {
		line, err := buffer.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return taken, nil // the JVM has not written the end of this line yet
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
