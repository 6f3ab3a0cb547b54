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

// job describes one load of a program.
type job struct {
	url     string // of the server
	address string // address of the drain
	index   string
	file    string // file with the documents
	dataset string // name of Knee's dataset with the same documents; empty: only the file has them
	dir     string // for temporary files
	time    time.Duration
	workers int

	flushBytes, flushDocuments int // one of these two limits is 0; only Knee's loader supports flushDocuments
}

// program is a loader that the benchmark can run.
type program struct {
	name   string
	toSink bool // false: the program writes to the drain
	args   func(l job) (path string, args []string, err error)
	result func(stdout []byte) (programResult, error)
}

// programResult is what a program reports about a load.
type programResult struct {
	Documents int64   `json:"documents"` // acknowledged documents
	Added     int64   `json:"added"`     // documents sent, acknowledged or not
	Seconds   float64 `json:"seconds"`

	loadCPU float64 // CPU seconds of the load, without start and end; 0 if the program does not report it
}

// These constants are the names of the programs in the tables.
const (
	knee            = "Knee"
	kneeFiltered    = "Knee, filter_path"
	goElasticsearch = "go-elasticsearch"
	openSearchGo    = "opensearch-go"
	limit           = "limit: drain"
)

// flags returns the flags that the programs of hack/bench and the sender have in common.
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

// outcome is the result of one load.
type outcome struct {
	programResult
	cpu time.Duration // CPU time of the program's processes, from start to exit
}

// startGrace is the time that a program may take in addition to the duration of the load.
const startGrace = 60 * time.Second

// run runs the program and returns its report and its CPU time.
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
		return outcome{}, fmt.Errorf("%s: invalid output: %w: %.200q", p.name, err, stdout.Bytes())
	}
	return outcome{r, c.ProcessState.UserTime() + c.ProcessState.SystemTime()}, nil
}
