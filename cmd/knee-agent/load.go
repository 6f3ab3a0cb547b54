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

// interrupted is the exit code after a Ctrl-C: 128 and the signal's number, as a shell has it.
const interrupted = 130

// runLoad loads a cluster: by flags, and prints a row a run; or, for a trial, by a Config.
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
		return failed("load", fmt.Errorf("%q is no flag", flags.Arg(0)))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends what does not look at the context, such as the reading of files
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

// accessOf reads what the files of an endpoint hold.
func accessOf(e *record.External) (access.Access, error) {
	if e == nil {
		return access.Access{}, nil
	}
	return access.Read(*e)
}

// loadByConfig makes the load of a trial. The result goes to --result, and what is said in between to standard output;
// without --result the result goes there, and what is said to standard error.
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
	stop := tellProgress(say, l)
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

// awaitStart waits for a line of a FIFO. One that is closed without it tells that who would have measured the load is gone.
func awaitStart(ctx context.Context, path string) error {
	read := make(chan error, 1)
	go func() {
		file, err := os.Open(path)
		if err == nil {
			defer func() { _ = file.Close() }()
			if _, err = bufio.NewReader(file).ReadString('\n'); errors.Is(err, io.EOF) {
				err = fmt.Errorf("%s was closed without a line: who was to start the load is gone", path)
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

// progressEvery is how often a load under way tells what it has done.
const progressEvery = 5 * time.Second

// tellProgress tells it until stop is called.
func tellProgress(to io.Writer, l *load.Loader) (stop func()) {
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
				if d == last { // a load that hangs says nothing: its trial sees that by its silence
					continue
				}
				last = d
				fmt.Fprintf(to, "load: %.0f s: %s documents acknowledged, %s rejected, %s failed, %s uncertain, %s sent again\n", time.Since(started).Seconds(),
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

// writeWhole writes a file that is there in whole or not at all.
func writeWhole(path string, text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // it is no more once it is renamed
	_, err = temporary.Write(text)
	if err := errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
