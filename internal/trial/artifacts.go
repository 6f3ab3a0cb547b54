package trial

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/knee-bench/knee/internal/trial/steady"
)

// keepTimeout bounds the writing of artifacts; keepStopped, that of a trial that was told to stop: its pod may be
// killed soon.
const (
	keepTimeout = 5 * time.Minute
	keepStopped = 15 * time.Second
)

// artifact is one file of an attempt's folder.
type artifact struct {
	name  string
	about string
	write func(*attempt, context.Context, io.Writer) error
}

// artifacts come after the driver's own, in the order of writing: the record, which says that all is there, last. One
// whose source is not there (the trial ended before it) is left out.
var artifacts = []artifact{
	{"documents.csv", "time_ms (Unix), documents: every reading of the primaries' index_total", (*attempt).writeDocuments},
	{"series.csv", "", (*attempt).writeSeries},
	{"pauses.csv", "time_ms (Unix, of the end), node, kind, name, millis, survivor_mib and promoted_mib (-1: not told): the collector's pauses by gc.log", (*attempt).writePauses},
	{"record.json", "the record of this attempt, whole", (*attempt).writeRecord},
}

// keep writes the raw files of the attempt, once nothing is measured any more. A failure is said, and keeps the
// record from naming a folder that is not whole.
func (a *attempt) keep(ctx context.Context) {
	if a.Config.Artifacts == "" {
		return
	}
	timeout := keepTimeout
	if ctx.Err() != nil {
		timeout = keepStopped
	}
	a.keepWithin(ctx, timeout)
}

// keepWithin gives up after a time, though something of the volume may hang then still.
func (a *attempt) keepWithin(ctx context.Context, timeout time.Duration) {
	folder := a.Config.Artifacts
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	a.record.Artifacts = folder // the record among the files names it
	done := make(chan error, 1)
	whole := *a // of its own: this goroutine may outlast the wait for it
	go func() { done <- whole.writeAll(ctx, folder) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done(): // a volume that hangs
		err = fmt.Errorf("not done after %s", timeout)
	}
	if err != nil {
		a.record.Artifacts = ""
		a.say("no artifacts: %v", err)
		return
	}
	a.say("artifacts in %s", folder)
}

func (a *attempt) writeAll(ctx context.Context, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	files := a.allArtifacts()
	if a.part.index == 0 {
		files = append([]artifact{{"README.txt", "", (*attempt).writeReadme}}, files...)
	}
	for _, f := range files {
		if err := a.writeOne(ctx, filepath.Join(folder, f.name), f.write); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// writeOne writes a file; nothing stays of one without a source.
func (a *attempt) writeOne(ctx context.Context, path string, write func(*attempt, context.Context, io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	err = write(a, ctx, file)
	err = errors.Join(err, file.Close())
	if errors.Is(err, fs.ErrNotExist) {
		return os.Remove(path)
	}
	return err
}

// allArtifacts are the driver's and, but for a loader pod that lends its part of the load, those of every attempt.
func (a *attempt) allArtifacts() []artifact {
	var out []artifact
	if a.driver != nil {
		out = a.driver.artifacts()
	}
	if a.part.index > 0 {
		return out
	}
	return append(out, artifacts...)
}

func copyOf(path string) func(*attempt, context.Context, io.Writer) error {
	return func(a *attempt, _ context.Context, w io.Writer) error {
		source, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = source.Close() }()
		clean := a.secrets.writer(w)
		_, err = io.Copy(clean, source)
		return errors.Join(err, clean.flush())
	}
}

// outputPath is where a run's words are kept in the scratch folder.
func (a *attempt) outputPath(id string) string { return filepath.Join(a.Work, id+".out") }

func (a *attempt) writeDocuments(_ context.Context, w io.Writer) error {
	if a.watch == nil || len(a.watch.samples) == 0 {
		return fs.ErrNotExist
	}
	return writeRows(w, []string{"time_ms", "documents"}, func(row func(...string)) {
		for _, s := range a.watch.samples {
			row(millis(s.At), strconv.FormatInt(s.Count, 10))
		}
	})
}

func (a *attempt) writeRecord(_ context.Context, w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(a.record)
}

func (a *attempt) writeReadme(_ context.Context, w io.Writer) error {
	for _, f := range a.allArtifacts() {
		if f.about != "" {
			_, _ = fmt.Fprintf(w, "%s: %s\n", f.name, f.about)
		}
	}
	if a.part.of > 1 {
		_, _ = fmt.Fprintf(w, "loader-1 to loader-%d: the driver's files of the other loader pods\n", a.part.of-1)
	}
	_, _ = fmt.Fprintf(w, "series.csv: a row a second and node, from the load's start until merges had drained; figures are means over the second:\n")
	for _, c := range seriesColumns {
		if _, err := fmt.Fprintf(w, "  %s: %s\n", c.name, c.about); err != nil {
			return err
		}
	}
	return nil
}

// writeRows writes a CSV file.
func writeRows(w io.Writer, header []string, rows func(row func(...string))) error {
	out := csv.NewWriter(w)
	_ = out.Write(header) // Error tells of all of them
	rows(func(fields ...string) { _ = out.Write(fields) })
	out.Flush()
	return out.Error()
}

func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

func figure(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// span is what the series cover: all that the watch saw.
func span(samples []steady.Sample) (from, to time.Time, ok bool) {
	if len(samples) < 2 {
		return from, to, false
	}
	return samples[0].At, samples[len(samples)-1].At, true
}
