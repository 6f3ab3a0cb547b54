package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/load"
	"github.com/knee-bench/knee/internal/record"
)

// interrupted is the exit code after a Ctrl-C: 128 plus the number of the signal, as in a shell.
const interrupted = 130

// runLoad loads a cluster. With a configuration file, it makes the load of a trial. Without this file, the flags describe the
// load, and runLoad prints a row for each run.
func runLoad(args []string) int {
	var o loadOptions
	flags := o.flags()
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		return failed("load", fmt.Errorf("unexpected argument %q: this command accepts only flags", flags.Arg(0)))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C then kills the process, even during work that ignores the context, such as reading files
	run := loadByFlags
	if o.configFile != "" {
		run = loadByConfig
	}
	switch err := run(ctx, o); {
	case ctx.Err() != nil:
		return interrupted
	case err != nil:
		return failed("load", err)
	}
	return 0
}

// accessOf reads the files with the credentials of an endpoint.
func accessOf(e *record.External) (access.Access, error) {
	if e == nil {
		return access.Access{}, nil
	}
	return access.Read(*e)
}

// loadByConfig makes the load of a trial. With --result, it writes the result to that file and progress to standard output.
// Without --result, it writes the result to standard output and progress to standard error.
func loadByConfig(ctx context.Context, o loadOptions) error {
	var c load.Config
	data, err := os.ReadFile(o.configFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("%s: %w", o.configFile, err)
	}
	say := io.Writer(os.Stderr)
	if o.resultFile != "" {
		say = os.Stdout
	}
	a, err := accessOf(c.External)
	if err != nil {
		return err
	}
	l, err := load.Prepare(ctx, c, a)
	if err != nil {
		return err
	}
	defer l.Close()
	if o.startFile != "" {
		fmt.Fprintln(say, "load: ready")
		if err := awaitStart(ctx, o.startFile); err != nil {
			return err
		}
	}
	stop := printProgress(say, l)
	r, err := l.Run(ctx)
	stop()
	if err != nil {
		return err
	}
	fmt.Fprintln(say, "load:", describe(r))
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if o.resultFile == "" {
		_, err = fmt.Println(string(text))
		return err
	}
	return writeWhole(o.resultFile, text)
}

// awaitStart waits for a line from a FIFO. If the FIFO is closed before a line arrives, the trial has ended.
func awaitStart(ctx context.Context, path string) error {
	read := make(chan error, 1)
	go func() {
		file, err := os.Open(path)
		if err == nil {
			defer func() { _ = file.Close() }()
			if _, err = bufio.NewReader(file).ReadString('\n'); errors.Is(err, io.EOF) {
				err = fmt.Errorf("the named pipe %s was closed before the start signal arrived, because the process that sends this signal has ended", path)
			}
		}
		read <- err
	}()
	select {
	case err := <-read:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// progressEvery is the interval between two progress lines.
const progressEvery = 5 * time.Second

// printProgress prints a progress line at every interval until stop is called.
func printProgress(to io.Writer, l *load.Loader) (stop func()) {
	started, ticker, over := time.Now(), time.NewTicker(progressEvery), make(chan struct{})
	done := make(chan struct{})
	var last load.Documents
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
				d := l.Progress()
				if d == last { // no line without progress: the trial detects a hanging load by the missing output
					continue
				}
				last = d
				fmt.Fprintf(to, "load: after %.0f s: %s documents acknowledged, %s rejected (status 429), %s failed, %s with unknown result, %s sent again\n", time.Since(started).Seconds(),
					thousands(d.Acknowledged), thousands(d.Rejected), thousands(d.Failed), thousands(d.Uncertain), thousands(d.Retried))
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(over)
		<-done
	}
}

// writeWhole writes a file through a temporary file. A reader finds either no file or the complete file.
func writeWhole(path string, text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // fails harmlessly after the rename, because the temporary file no longer exists
	_, err = temporary.Write(text)
	if err := errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
