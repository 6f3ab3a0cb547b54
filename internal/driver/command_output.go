package driver

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// keptOutput is how much of a program's last words is kept, in bytes: what a parser looks at, and what is told of a failure.
// Summaries come last.
const keptOutput = 1 << 20

// CommandOutput takes in what a program prints, as it prints it, and keeps the end of it. It is not safe for concurrent use.
type CommandOutput struct {
	tail  []byte
	total int64 // bytes taken in
	news  atomic.Int64
}

// Write takes in a piece of the output.
func (o *CommandOutput) Write(p []byte) (int, error) {
	o.total += int64(len(p))
	o.news.Add(1)
	o.tail = append(o.tail, p...)
	if extra := len(o.tail) - keptOutput; extra > keptOutput { // not at every piece: moving takes time
		o.tail = append(o.tail[:0], o.tail[extra:]...)
	}
	return len(p), nil
}

// News counts the pieces of output so far. It is safe for concurrent use.
func (o *CommandOutput) News() int64 { return o.news.Load() }

// Text is the end of the output, from a line's beginning on where something before it was left out.
func (o *CommandOutput) Text() string {
	tail := o.tail[max(0, len(o.tail)-keptOutput):]
	if o.total == int64(len(tail)) {
		return string(tail)
	}
	_, rest, _ := strings.Cut(string(tail), "\n")
	return fmt.Sprintf("(%d bytes are left out)\n%s", o.total-int64(len(rest)), rest)
}

// TellingCommandOutput is what of a program's output tells why it failed, at most max bytes: its last lines.
func TellingCommandOutput(output string, max int) string {
	if text := lastWords(splitLines(output)); text != "" {
		return bound(text, max)
	}
	return "it printed nothing"
}
