package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// job is what a program is to do.
type job struct {
	url     string // of the server
	address string // of the drain
	index   string
	file    string // the documents
	dataset string // the same documents by Knee's name for them; empty: they are only in the file
	dir     string // scratch
	time    time.Duration
	workers int

	flushBytes, flushDocuments int // one of both is 0; the programs of others know only the bytes
}

// program is something that loads.
type program struct {
	name   string
	toSink bool // else it writes into the drain
	args   func(l job) (path string, args []string, err error)
	result func(stdout []byte) (programResult, error)
}

// programResult is what a program says of a load.
type programResult struct {
	Documents int64   `json:"documents"` // acknowledged
	Added     int64   `json:"added"`     // sent, acknowledged or not
	Seconds   float64 `json:"seconds"`

	loadCPU float64 // seconds, of the load alone: where the program tells it
}

// Names of what is compared.
const (
	knee            = "Knee"
	kneeFiltered    = "Knee, filter_path"
	goElasticsearch = "go-elasticsearch"
	openSearchGo    = "opensearch-go"
	limit           = "limit: drain"
)

// flags are those that the programs of hack/bench and the sender understand.
func (l job) flags() []string {
	return []string{"-index", l.index, "-file", l.file, "-time", l.time.String(), "-flush-bytes", strconv.Itoa(l.flushBytes), "-workers", strconv.Itoa(l.workers)}
}

func (o options) programs() []program {
	indexer := func(name, binary string) program {
		return program{name: name, toSink: true, result: decodeResult, args: func(l job) (string, []string, error) {
			return filepath.Join(o.clients, binary), append([]string{"-url", l.url}, l.flags()...), nil
		}}
	}
	return []program{
		o.kneeProgram(),
		{name: kneeFiltered, toSink: true, result: kneeResult, args: func(l job) (string, []string, error) {
			l.url += pathFiltered
			return o.kneeArgs(l)
		}},
		indexer(goElasticsearch, "goelasticsearch"),
		indexer(openSearchGo, "opensearchgo"),
		{name: limit, result: decodeResult, args: func(l job) (string, []string, error) {
			self, err := os.Executable()
			return self, append([]string{"send", "-address", l.address}, l.flags()[2:]...), err
		}},
	}
}

func (o options) kneeProgram() program {
	return program{name: knee, toSink: true, args: o.kneeArgs, result: kneeResult}
}

func decodeResult(stdout []byte) (r programResult, err error) {
	return r, json.Unmarshal(stdout, &r)
}

// outcome is what one load came to.
type outcome struct {
	programResult
	cpu time.Duration // of the program's processes, from start to exit
}

// startGrace is what a program may take beyond the load itself.
const startGrace = 60 * time.Second

// run lets the program load, and gives what it says and the CPU time that it took.
func (p program) run(ctx context.Context, l job) (outcome, error) {
	path, args, err := p.args(l)
	if err != nil {
		return outcome{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.time+startGrace, fmt.Errorf("it did not end within %s", l.time+startGrace))
	defer cancel()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, path, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return outcome{}, fmt.Errorf("%s: %w: %s", p.name, err, bytes.TrimSpace(append(stderr.Bytes(), stdout.Bytes()...)))
	}
	r, err := p.result(stdout.Bytes())
	if err != nil {
		return outcome{}, fmt.Errorf("%s: what it printed: %w: %.200q", p.name, err, stdout.Bytes())
	}
	return outcome{r, c.ProcessState.UserTime() + c.ProcessState.SystemTime()}, nil
}
