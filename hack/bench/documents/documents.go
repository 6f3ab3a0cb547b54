// Package documents passes documents from memory to the bulk indexers of client libraries, again and again for a given
// time.
package documents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

// Load holds the command line of a program.
type Load struct {
	URL        string
	Index      string
	FlushBytes int
	Workers    int
	Time       time.Duration

	file string
}

// Result is the output of a program, as JSON.
type Result struct {
	Documents uint64  `json:"documents"` // acknowledged documents
	Failed    uint64  `json:"failed"`
	Added     uint64  `json:"added"` // documents passed to the indexer
	Seconds   float64 `json:"seconds"`
}

// Parse reads the command line.
func Parse() Load {
	var l Load
	flag.StringVar(&l.URL, "url", "http://127.0.0.1:9200", "URL of the server")
	flag.StringVar(&l.Index, "index", "bench", "index in the bulk requests")
	flag.StringVar(&l.file, "file", "", "documents as newline-delimited JSON")
	flag.IntVar(&l.FlushBytes, "flush-bytes", 2<<20, "least size of a bulk request")
	flag.IntVar(&l.Workers, "workers", runtime.NumCPU(), "workers of the indexer")
	flag.DurationVar(&l.Time, "time", 3*time.Second, "how long to add documents")
	flag.Parse()
	return l
}

// Feed reads the file and calls add for its documents, again and again, until the time is over. Then it calls end. It
// reads the clock only once for many documents, because reading the clock takes longer than some indexers need for a
// document.
func (l Load) Feed(add func(document []byte) error, end func() error) (added uint64, seconds float64, err error) {
	lines, err := l.read()
	if err != nil {
		return 0, 0, err
	}
	const lookEvery = 512
	start := time.Now()
	for time.Since(start) < l.Time {
		for range lookEvery {
			if err := add(lines[added%uint64(len(lines))]); err != nil {
				return added, 0, err
			}
			added++
		}
	}
	err = end()
	return added, time.Since(start).Seconds(), err
}

func (l Load) read() ([][]byte, error) {
	content, err := os.ReadFile(l.file)
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(bytes.TrimRight(content, "\n"), []byte{'\n'})
	if len(lines[0]) == 0 {
		return nil, fmt.Errorf("%s has no documents", l.file)
	}
	return lines, nil
}

// FirstError keeps the first error of the workers of an indexer.
type FirstError struct {
	once sync.Once
	err  error
}

// Keep is the indexer's callback for errors. It keeps the first error.
func (f *FirstError) Keep(_ context.Context, err error) { f.once.Do(func() { f.err = err }) }

// Or returns err if err is not nil, and otherwise the kept error. The workers must have ended.
func (f *FirstError) Or(err error) error {
	if err != nil {
		return err
	}
	return f.err
}

// Finish prints the result, or the error, and ends the program.
func Finish(r Result, err error) {
	if err == nil && r.Failed > 0 {
		err = fmt.Errorf("%d documents failed", r.Failed)
	}
	if err = errors.Join(err, json.NewEncoder(os.Stdout).Encode(r)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
