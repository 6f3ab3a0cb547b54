package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/knee-bench/knee/internal/agent/trial"
	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/record"
)

// runTrial makes one attempt. Its exit code is 0 if a record was written, even a record with an error. Exception: in a trial
// of several loader pods, the exit code is 1 if the record holds an error.
func runTrial(args []string) int {
	flags := flag.NewFlagSet("trial", flag.ContinueOnError)
	work := flags.String("work", record.WorkPath, "scratch folder, writable")
	cache := flags.String("cache", record.CachePath, "folder kept between trials; used if it exists")
	program := flags.String("program", "", "program that the driver runs; unset: the default program of the driver")
	out := flags.String("record", record.TerminationPath, "file to write the record to")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	started := time.Now().UnixMilli()
	var config record.Config
	r := record.Record{StartedAt: started}
	if err := json.Unmarshal([]byte(os.Getenv(record.ConfigEnv)), &config); err != nil {
		r.FinishedAt = time.Now().UnixMilli()
		r.Error = &record.Error{Reason: record.ReasonAgentFailed, Message: fmt.Sprintf("cannot decode the configuration in the environment variable %s: %v", record.ConfigEnv, err)}
		return write(r, *out)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	save := func(r record.Record) {
		if _, err := save(r, *out); err != nil {
			fmt.Fprintf(os.Stderr, "knee-agent trial: %v\n", err)
		}
	}
	options := trial.Options{Config: config, Drivers: agentside.Drivers(), Work: *work, Cache: *cache, Program: *program, Output: os.Stdout, Save: save}
	if config.Loaders > 1 {
		index, err := indexOf(config.Loaders)
		if err != nil {
			return failed("trial", errors.Join(err, replace(*out, []byte(err.Error()))))
		}
		if index > 0 {
			return runLoader(ctx, options, index, *out)
		}
	}
	r = trial.Run(ctx, options)
	if code := write(r, *out); code != 0 || r.Error == nil || config.Loaders <= 1 {
		return code
	}
	return 1 // the Job controller then ends the other loader pods, which may not have begun
}

// indexOf returns this pod's index among the loader pods of a trial.
func indexOf(loaders int32) (int32, error) {
	index, err := strconv.ParseInt(os.Getenv(record.IndexEnv), 10, 32)
	if err != nil || index < 0 || index >= int64(loaders) {
		return 0, fmt.Errorf("the environment variable %s is %q: in a trial of %d loader pods, the value must be the index of this pod in its Job, from 0 to %d", record.IndexEnv, os.Getenv(record.IndexEnv), loaders, loaders-1)
	}
	return int32(index), nil
}

// runLoader makes this pod's part of the load. It is used in loader pods that write no record. Its exit code is 0 if the pod
// that writes the record knows the result, including a failure. A known failure must not return 1: if one pod of a Job fails,
// the Job controller ends all its pods.
func runLoader(ctx context.Context, o trial.Options, index int32, path string) int {
	did, err := trial.RunLoader(ctx, o, index)
	if err != nil {
		return failed("trial", errors.Join(err, replace(path, cut(err.Error()))))
	}
	fmt.Println(did)
	if err := replace(path, cut(did)); err != nil {
		return failed("trial", err)
	}
	return 0
}

// cut shortens a text to the size limit of a termination message.
func cut(text string) []byte {
	return []byte(strings.ToValidUTF8(text[:min(len(text), record.MaxBytes)], ""))
}

// write saves the record in a file and prints it.
func write(r record.Record, path string) int {
	data, err := save(r, path)
	if err != nil {
		return failed("trial", err)
	}
	fmt.Println(string(data))
	return 0
}

// save encodes a record and writes it to a file.
func save(r record.Record, path string) ([]byte, error) {
	data, err := record.Encode(r)
	if err != nil {
		return nil, err
	}
	if err := replace(path, data); err != nil {
		return nil, fmt.Errorf("cannot write the record of the trial: %w", err)
	}
	return data, nil
}

// replace overwrites the content of a file. The file is a mount, so a rename cannot replace it. The agent may be killed at
// any moment, so replace makes a single write. A shorter new text is padded with blanks to the length of the old text. So the
// file is always empty, or holds either the old or the new text.
func replace(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	whole := text
	if rest := info.Size() - int64(len(text)); info.Mode().IsRegular() && rest > 0 {
		whole = append(slices.Clone(text), bytes.Repeat([]byte(" "), int(rest))...)
	}
	if _, err := file.WriteAt(whole, 0); err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		if err := file.Truncate(int64(len(text))); err != nil {
			return err
		}
	}
	return file.Close()
}
