// Package output stores the output of a program, and parses and checks the figures in it. It starts no process.
package output

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"sync/atomic"
)

// Limits for the stored output of a program. The output may grow as long as the load runs.
const (
	MaxLine  = 64 << 10  // bytes of a line
	KeptEnds = 128 << 10 // bytes at the beginning of the output, and also at its end
)

// Output receives the output of a program in pieces. It keeps the beginning and the end of the text and counts new lines. It
// is not safe for concurrent use, except the method News.
type Output struct {
	Head, Tail, Line []byte
	total            int // number of received bytes

	news   atomic.Int64 // number of new lines; see News
	seed   maphash.Seed
	recent [recentLines]uint64
	oldest int
}

// Write adds a piece of the output.
func (o *Output) Write(p []byte) (int, error) {
	o.Take(p, func([]byte) {})
	return len(p), nil
}

// Take adds a piece of the output. It passes every line that is now complete to the function ended.
func (o *Output) Take(p []byte, ended func(line []byte)) {
	o.total += len(p)
	n := min(len(p), KeptEnds-len(o.Head))
	o.Head = append(o.Head, p[:n]...)
	o.Tail = append(o.Tail, p[n:]...)
	if extra := len(o.Tail) - KeptEnds; extra > KeptEnds { // cut the tail only when it is twice as long as needed, because moving the bytes takes time
		o.Tail = append(o.Tail[:0], o.Tail[extra:]...)
	}
	for rest := p; len(rest) > 0; {
		end := bytes.IndexAny(rest, lineEnds)
		piece := rest
		if end >= 0 {
			piece = rest[:end]
		}
		o.Line = append(o.Line, piece[:min(len(piece), MaxLine-len(o.Line))]...)
		if end < 0 {
			break
		}
		o.EndLine(ended)
		rest = rest[end+1:]
	}
}

// lineEnds lists the characters that end a line. Programs print progress with carriage returns and cursor movements.
const lineEnds = "\n\r\x1b"

// EndLine ends the current line and passes it to the function ended.
func (o *Output) EndLine(ended func(line []byte)) {
	o.noteNews()
	ended(o.Line)
	o.Line = o.Line[:0]
}

// recentLines is the number of earlier lines with which a new line is compared. A waiting program may repeat its progress
// every second, with one line for each task.
const recentLines = 16

func (o *Output) noteNews() {
	if o.seed == (maphash.Seed{}) {
		o.seed = maphash.MakeSeed()
	}
	said := maphash.Bytes(o.seed, o.Line)
	if len(o.Line) == 0 || slices.Contains(o.recent[:], said) {
		return
	}
	o.recent[o.oldest] = said
	o.oldest = (o.oldest + 1) % recentLines
	o.news.Add(1)
}

// News returns the number of new lines so far. A line is new if it is not empty and differs from each of the last 16 new
// lines (recentLines) before it. News is safe for concurrent use.
func (o *Output) News() int64 { return o.news.Load() }

// Text returns the output without the middle part if the output is long.
func (o *Output) Text() string {
	tail := o.Tail[max(0, len(o.Tail)-KeptEnds):]
	if out := o.total - len(o.Head) - len(tail); out > 0 {
		return fmt.Sprintf("%s\n(%d bytes are left out)\n%s", o.Head, out, tail)
	}
	return string(o.Head) + string(tail)
}

// LastWords returns the last meaningful lines of the output, at most max bytes. These lines usually explain a failure.
func (o *Output) LastWords(max int) string { return Bound(LastWords(SplitLines(o.Text())), max) }
