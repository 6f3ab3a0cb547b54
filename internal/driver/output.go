package driver

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"sync/atomic"
)

// Bounds of what is kept of a program's output, which may be as long as the load is.
const (
	maxLine  = 64 << 10  // bytes of a line
	keptEnds = 128 << 10 // bytes of the output's beginning, and of its end
)

// Output takes in what a program prints, as it prints it: it keeps the two ends of the text and counts what is new. It is
// not safe for concurrent use.
type Output struct {
	head, tail, line []byte
	total            int // bytes taken in

	news   atomic.Int64 // lines so far that were not among the last ones
	seed   maphash.Seed
	recent [recentLines]uint64
	oldest int
}

// Write takes in a piece of the output.
func (o *Output) Write(p []byte) (int, error) {
	o.take(p, func([]byte) {})
	return len(p), nil
}

// take takes in a piece of the output and calls ended for every line that it ends.
func (o *Output) take(p []byte, ended func(line []byte)) {
	o.total += len(p)
	n := min(len(p), keptEnds-len(o.head))
	o.head = append(o.head, p[:n]...)
	o.tail = append(o.tail, p[n:]...)
	if extra := len(o.tail) - keptEnds; extra > keptEnds { // not at every piece: moving takes time
		o.tail = append(o.tail[:0], o.tail[extra:]...)
	}
	for rest := p; len(rest) > 0; {
		end := bytes.IndexAny(rest, lineEnds)
		piece := rest
		if end >= 0 {
			piece = rest[:end]
		}
		o.line = append(o.line, piece[:min(len(piece), maxLine-len(o.line))]...)
		if end < 0 {
			break
		}
		o.endLine(ended)
		rest = rest[end+1:]
	}
}

// lineEnds are what a line ends at: a program's progress uses carriage returns and cursor movements.
const lineEnds = "\n\r\x1b"

func (o *Output) endLine(ended func(line []byte)) {
	o.noteNews()
	ended(o.line)
	o.line = o.line[:0]
}

// recentLines is how many lines back one counts as said before: a program that waits prints its progress anew every
// second, a line for each of what it waits for.
const recentLines = 16

func (o *Output) noteNews() {
	if o.seed == (maphash.Seed{}) {
		o.seed = maphash.MakeSeed()
	}
	said := maphash.Bytes(o.seed, o.line)
	if len(o.line) == 0 || slices.Contains(o.recent[:], said) {
		return
	}
	o.recent[o.oldest] = said
	o.oldest = (o.oldest + 1) % recentLines
	o.news.Add(1)
}

// News counts the lines so far that the program had not just printed before. It is safe for concurrent use.
func (o *Output) News() int64 { return o.news.Load() }

// Text is the output, without its middle when that is long.
func (o *Output) Text() string {
	tail := o.tail[max(0, len(o.tail)-keptEnds):]
	if out := o.total - len(o.head) - len(tail); out > 0 {
		return fmt.Sprintf("%s\n(%d bytes are left out)\n%s", o.head, out, tail)
	}
	return string(o.head) + string(tail)
}

// LastWords are the last lines of the output that say something, at most max bytes: what a program that failed says last
// tells most of why.
func (o *Output) LastWords(max int) string { return bound(lastWords(splitLines(o.Text())), max) }
