// Package bulk implements the driver "bulk", which makes the load with Knee's own loader.
package bulk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/content"
	"github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"
	"github.com/knee-bench/knee/internal/drivers/output"
	"github.com/knee-bench/knee/internal/load"
	"github.com/knee-bench/knee/internal/load/documents"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/version"
)

// Driver makes the load with Knee's own loader. The loader is the agent in a separate process. So its resource usage is
// measured like that of any other program.
type Driver struct {
	session *driver.Session
	config  bulkconfig.Config
	program string
	exit    int
}

// New makes a driver for one attempt.
func New(s *driver.Session, raw json.RawMessage) (driver.Driver, error) {
	config, err := driver.Decode[bulkconfig.Config](bulkconfig.Name, raw)
	if err != nil {
		return nil, err
	}
	return &Driver{session: s, config: config}, nil
}

// Kind implements driver.Driver.
func (*Driver) Kind() driver.Kind { return driver.FillsIndex }

// About implements driver.Driver.
func (d *Driver) About() record.Driver {
	return record.Driver{Name: bulkconfig.Name, Version: version.Version, ExitCode: d.exit}
}

// Prepare finds the agent program and validates the loader's configuration.
func (d *Driver) Prepare(context.Context) (err error) {
	if d.program = d.session.Program; d.program == "" {
		if d.program, err = os.Executable(); err != nil {
			return fmt.Errorf("cannot find the agent program: %w", err)
		}
	}
	if d.session.Config.Attempt.Phase == record.OpenLoop {
		return record.Errorf(record.ReasonAgentFailed, "spec.workload.bulk cannot make a load at a fixed rate: spec.final.openLoop requires spec.workload.osb")
	}
	for _, file := range d.config.Files {
		if _, err := os.Stat(file); err != nil {
			return record.Errorf(record.ReasonDriverFailed, "spec.workload.bulk.files.names: %v", err)
		}
	}
	if err := d.loaderConfig().Validate(); err != nil {
		return record.Errorf(record.ReasonDriverFailed, "spec.workload.bulk: %v", err)
	}
	return nil
}

// loaderConfig returns the loader's configuration. It contains the paths of Secret files, but no secrets.
func (d *Driver) loaderConfig() load.Config {
	c, p := d.session.Config, d.session.Part
	return load.Config{
		URL: c.Endpoint, External: c.External, Index: c.Index.Name, DataStream: c.Index.DataStream,
		Bulk: d.config, Workers: int(p.Clients(c.Attempt.Clients)), FirstClient: int(p.FirstClient(c.Attempt.Clients)), Clients: int(c.Attempt.Clients),
	}
}

// IndexBody returns the index body of the dataset. For files of documents the body is empty, so OpenSearch maps the fields
// dynamically.
func (d *Driver) IndexBody() (body []byte, from string, err error) {
	dataset := d.config.Dataset
	if dataset == "" {
		return []byte(`{}`), "spec.workload.bulk.files", nil
	}
	from = "the body of dataset " + dataset
	if body, err = documents.Body(dataset); err != nil || !d.session.Config.Index.DataStream {
		return body, from, err
	}
	field, err := documents.TimestampField(dataset)
	if err != nil {
		return nil, from, err
	}
	whole := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &whole); err != nil {
		return nil, from, err
	}
	whole["data_stream"] = fmt.Appendf(nil, `{"timestamp_field":{"name":%q}}`, field)
	body, err = json.Marshal(whole)
	return body, from, err
}

// configPath, resultPath and outputPath return the paths of the loader's files in the scratch folder.
func (d *Driver) configPath() string { return filepath.Join(d.session.Dirs.Work, "load.json") }
func (d *Driver) resultPath() string { return filepath.Join(d.session.Dirs.Work, "load-result.json") }
func (d *Driver) outputPath() string { return d.session.Dirs.Output("load") }

// Load starts the loader, which prepares and waits. When all loader pods are ready, the loader sends.
func (d *Driver) Load(ctx context.Context, in driver.LoadInput) (json.RawMessage, error) {
	data, err := json.Marshal(d.loaderConfig())
	if err == nil {
		err = os.WriteFile(d.configPath(), data, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot write the configuration of Knee's loader: %w", err)
	}
	if err := os.Remove(d.resultPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	gate, err := process.NewGate(filepath.Join(d.session.Dirs.Work, "load-start"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = gate.Close() }() // called after the program has ended
	var output output.Output
	var span driver.Span
	start := func(ctx context.Context) (err error) {
		span, err = in.Start(ctx)
		return err
	}
	exit, err := process.RunGated(ctx, d.session.Run, process.Program{
		Name: "Knee's loader", Path: d.program, Args: []string{"load", "--config", d.configPath(), "--result", d.resultPath(), "--start", gate.Path()},
		Output: &output, Activity: in.Activity,
	}, gate, start)
	d.exit = exit
	if err := os.WriteFile(d.outputPath(), []byte(output.Text()), 0o644); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	if exit != 0 {
		return nil, record.Errorf(record.ReasonDriverFailed, "Knee's loader %s: %s", process.DescribeExit(exit), output.LastWords(driver.MaxMessage))
	}
	return d.share(span)
}

// share returns the loader's result. It converts times to milliseconds since the start of the load. If one of several loaders
// ended early, share fails immediately, because the load of the other loaders is then useless.
func (d *Driver) share(span driver.Span) (json.RawMessage, error) {
	data, err := os.ReadFile(d.resultPath())
	if err != nil {
		return nil, record.Errorf(record.ReasonDriverIncomplete, "cannot read the result of Knee's loader: %v", err)
	}
	var r load.Result
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, record.Errorf(record.ReasonDriverIncomplete, "cannot decode the result of Knee's loader: %v", err)
	}
	if early := endedEarly(r); early != nil && d.session.Part.Of > 1 {
		return nil, early
	}
	began := span.BeganUnixMilli()
	r.From, r.To, r.FirstEnd = r.From-began, r.To-began, r.FirstEnd-began
	return json.Marshal(r)
}

// Artifacts implements driver.Driver.
func (d *Driver) Artifacts() []driver.Artifact {
	return []driver.Artifact{
		{Name: "load.json", About: "the configuration of Knee's loader", Write: d.session.CopyOf(d.configPath())},
		{Name: "load-result.json", About: "the result of Knee's loader; latency is an HdrHistogram in microseconds, V2, compressed, base64", Write: d.session.CopyOf(d.resultPath())},
		{Name: "load-output.txt", About: "output of Knee's loader", Write: d.session.CopyOf(d.outputPath())},
	}
}

// FilesDigest implements driver.FilesDigester.
func (d *Driver) FilesDigest() (string, error) {
	files := d.config.Files
	if len(files) > 0 && d.config.Flat {
		return content.DigestFolder(filepath.Dir(files[0]))
	}
	if len(files) > 0 {
		return content.DigestNamed("", files)
	}
	return "", nil
}
