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

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial"
)

// runTrial makes one attempt. Its exit code is 0 when a record was written, whatever the record says, except in a trial of
// several loader pods: there it is 1 when the record holds an error.
func runTrial(args []string) int {
	flags := flag.NewFlagSet("trial", flag.ContinueOnError)
	work := flags.String("work", record.WorkPath, "scratch folder, writable")
	cache := flags.String("cache", record.CachePath, "folder kept between trials; used when it is there")
	program := flags.String("program", "", "the driver's program; unset: its own")
	out := flags.String("record", record.TerminationPath, "file to write the record to")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	started := time.Now().UnixMilli()
	var config record.Config
	r := record.Record{StartedAt: started}
	if err := json.Unmarshal([]byte(os.Getenv(record.ConfigEnv)), &config); err != nil {
		r.FinishedAt = time.Now().UnixMilli()
		r.Error = &record.Error{Reason: record.ReasonAgentFailed, Message: fmt.Sprintf("the environment variable %s holds no configuration: %v", record.ConfigEnv, err)}
		return write(r, *out)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	save := func(r record.Record) {
		if _, err := save(r, *out); err != nil {
			fmt.Fprintf(os.Stderr, "knee-agent trial: %v\n", err)
		}
	}
	options := trial.Options{Config: config, Work: *work, Cache: *cache, Program: *program, Output: os.Stdout, Save: save}
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
	return 1 // so that the Job's controller ends the other loader pods, which may not even have begun
}

// indexOf is this pod's index among the loader pods of a trial.
func indexOf(loaders int32) (int32, error) {
	index, err := strconv.ParseInt(os.Getenv(record.IndexEnv), 10, 32)
	if err != nil || index < 0 || index >= int64(loaders) {
		return 0, fmt.Errorf("the environment variable %s is %q: a trial of %d loader pods needs this pod's index in its Job, 0 to %d", record.IndexEnv, os.Getenv(record.IndexEnv), loaders, loaders-1)
	}
	return int32(index), nil
}

// runLoader makes the part of the load of a loader pod that writes no record. Its exit code is 0 when the pod that does
// knows all, a failure included: the Job's controller ends all pods of a Job of which one fails.
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

// cut fits a text into a termination message.
func cut(text string) []byte {
	return []byte(strings.ToValidUTF8(text[:min(len(text), record.MaxBytes)], ""))
}

// write encodes the record into the file and prints it.
func write(r record.Record, path string) int {
	data, err := save(r, path)
	if err != nil {
		return failed("trial", err)
	}
	fmt.Println(string(data))
	return 0
}

// save encodes the record into the file.
func save(r record.Record, path string) ([]byte, error) {
	data, err := record.Encode(r)
	if err != nil {
		return nil, err
	}
	if err := replace(path, data); err != nil {
		return nil, fmt.Errorf("write the record: %w", err)
	}
	return data, nil
}

// replace writes a text over what a file holds. The file is a mounted one, which no other can take the place of, and
// the agent may be killed at any instant: one write, with blanks over the rest of a longer text before, so that there is
// nothing, the old text or the new.
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
