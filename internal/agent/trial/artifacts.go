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

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/measure/steady"
)

// keepTimeout limits the time for writing artifacts. keepStopped is the limit for a trial that is being stopped, because its
// pod may be killed soon.
const (
	keepTimeout = 5 * time.Minute
	keepStopped = 15 * time.Second
)

// trialArtifacts lists the files that every attempt writes, in the order of writing. The record is the last file: if it
// exists, the other files are complete.
func (a *attempt) trialArtifacts() []driver.Artifact {
	return []driver.Artifact{
		{Name: "documents.csv", About: "every reading of the primaries' index_total; columns: time_ms (Unix time), documents", Write: a.writeDocuments},
		{Name: "series.csv", About: "", Write: a.writeSeries},
		{Name: "pauses.csv", About: "pauses of the garbage collector from gc.log; columns: time_ms (Unix time of the end of the pause), node, kind, name, millis, survivor_mib and promoted_mib (-1: not known)", Write: a.writePauses},
		{Name: "record.json", About: "the complete record of this attempt", Write: a.writeRecord},
	}
}

// keep writes the raw files of the attempt after the measurement. If this fails, it prints the error, and the record names no
// folder, because the folder is incomplete.
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

// keepWithin writes the raw files. It stops waiting after timeout, because a volume may hang.
func (a *attempt) keepWithin(ctx context.Context, timeout time.Duration) {
	folder := a.Config.Artifacts
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	a.record.Artifacts = folder // set before writing, so that record.json contains the folder name
	done := make(chan error, 1)
	whole := *a // a copy, because the goroutine may still run after this function returns
	go func() { done <- whole.writeAll(ctx, folder) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done(): // the volume hangs
		err = fmt.Errorf("the files were not completely written within %s: check the volume of spec.artifacts", timeout)
	}
	if err != nil {
		a.record.Artifacts = ""
		a.say("cannot write the artifacts: %v", err)
		return
	}
	a.say("artifacts in %s", folder)
}

func (a *attempt) writeAll(ctx context.Context, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	files := a.allArtifacts()
	if a.session.Part.Index == 0 {
		files = append([]driver.Artifact{{Name: "README.txt", About: "", Write: a.writeReadme}}, files...)
	}
	for _, f := range files {
		if err := writeOne(ctx, filepath.Join(folder, f.Name), f.Write); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// writeOne writes a file. If there is nothing to write, for example because the trial ended early, it deletes the file.
func writeOne(ctx context.Context, path string, write func(context.Context, io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	err = write(ctx, file)
	err = errors.Join(err, file.Close())
	if errors.Is(err, fs.ErrNotExist) {
		return os.Remove(path)
	}
	return err
}

// allArtifacts lists the artifacts of the driver and the artifacts of every attempt. For a loader pod with an index above 0,
// it lists only the driver's artifacts.
func (a *attempt) allArtifacts() []driver.Artifact {
	var out []driver.Artifact
	if a.driver != nil {
		out = a.driver.Artifacts()
	}
	if a.session.Part.Index > 0 {
		return out
	}
	return append(out, a.trialArtifacts()...)
}

func (a *attempt) writeDocuments(_ context.Context, w io.Writer) error {
	if len(a.recording.Samples) == 0 {
		return fs.ErrNotExist
	}
	return writeRows(w, []string{"time_ms", "documents"}, func(row func(...string)) {
		for _, s := range a.recording.Samples {
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
		if f.About != "" {
			_, _ = fmt.Fprintf(w, "%s: %s\n", f.Name, f.About)
		}
	}
	if a.session.Part.Of > 1 {
		_, _ = fmt.Fprintf(w, "folders loader-1 to loader-%d: the files that the driver wrote in the other loader pods\n", a.session.Part.Of-1)
	}
	_, _ = fmt.Fprintf(w, "series.csv: one row per OpenSearch node and second, from the start of the load until the merges ended. Each figure is the mean over this second. Columns:\n")
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
	_ = out.Write(header) // out.Error returns the errors of all writes
	rows(func(fields ...string) { _ = out.Write(fields) })
	out.Flush()
	return out.Error()
}

func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

func figure(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// recordedTime returns the period of the samples. The series cover the same period.
func recordedTime(samples []steady.Sample) (from, to time.Time, ok bool) {
	if len(samples) < 2 {
		return from, to, false
	}
	return samples[0].At, samples[len(samples)-1].At, true
}
