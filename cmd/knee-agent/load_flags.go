package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/load"
	"github.com/knee-bench/knee/internal/load/documents"
	"github.com/knee-bench/knee/internal/record"
)

// loadOptions holds the flags of `knee-agent load`.
type loadOptions struct {
	configFile, resultFile, startFile string // of a trial; if configFile is set, all flags except --result and --start are ignored

	config   load.Config
	external record.External
	duration time.Duration
	timeout  time.Duration
	retries  int
	output   string

	dataStream string
	create     bool
	bodyFile   string
	shards     int
	replicas   int
	refresh    string

	warmup, runs int
	wait         time.Duration
	mock         bool
}

// flags defines the flags of the command.
func (o *loadOptions) flags() *flag.FlagSet {
	f := flag.NewFlagSet("load", flag.ContinueOnError)
	f.StringVar(&o.configFile, "config", "", "`file` that holds the whole load of a trial as JSON; all flags below except --result and --start are ignored then")
	f.StringVar(&o.resultFile, "result", "", "`file` for the result of --config; unset: standard output")
	f.StringVar(&o.startFile, "start", "", "`FIFO` from which the load of --config reads a line before it begins")

	c := &o.config
	f.StringVar(&c.URL, "url", "http://localhost:9200", "of the cluster")
	f.StringVar(&c.Bulk.Dataset, "dataset", "", "documents that the loader makes: "+strings.Join(documents.Datasets(), ", ")+"; unset and no --file: small")
	f.Func("file", "`file` of documents as newline-delimited JSON, plain, .gz, .bz2 or .zst; may be given several times", func(s string) error {
		c.Bulk.Files = append(c.Bulk.Files, s)
		return nil
	})
	f.Func("count", "`documents` to send in each run, such as 1_000_000; unset: --duration, else files once and 100,000 of a dataset", intoNumber(&c.Bulk.Documents))
	f.DurationVar(&o.duration, "duration", 0, "length of each run, in whole seconds, instead of --count")
	f.Func("flush-bytes", "`size` at which a bulk request is sent, such as 2MB or 6.25MiB (default 3MB)", intoSize(&c.Bulk.FlushBytes))
	f.Func("flush-documents", "`documents` of a bulk request, instead of --flush-bytes", func(s string) error {
		var n int64
		if err := intoNumber(&n)(s); err != nil {
			return err
		}
		if n < 1 || n > math.MaxInt32 {
			return fmt.Errorf("%d is out of bounds", n)
		}
		c.Bulk.FlushDocuments = int32(n)
		return nil
	})
	f.IntVar(&c.Workers, "workers", runtime.NumCPU(), "connections, each sending one bulk request at a time")
	f.Uint64Var(&c.Seed, "seed", 1, "seed of the random parts of a dataset")
	f.IntVar(&o.retries, "retries", load.DefaultRetries, "how often documents are sent again at most after status 429 or 5xx")
	f.DurationVar(&o.timeout, "timeout", load.DefaultTimeout, "of one bulk request, in whole seconds")

	f.StringVar(&c.Index, "index", "knee-load", "index to write to")
	f.StringVar(&o.dataStream, "data-stream", "", "data stream to write to, instead of --index")
	f.BoolVar(&o.create, "create-index", false, "delete the index or data stream before each run and create it again")
	f.StringVar(&o.bodyFile, "body", "", "`file` with the settings and mappings to create with; unset: the dataset's own")
	f.IntVar(&o.shards, "shards", 3, "primary shards to create with")
	f.IntVar(&o.replicas, "replicas", 0, "replicas to create with")
	f.StringVar(&o.refresh, "refresh-interval", "", "refresh interval to create with; unset: the body's, else OpenSearch's own")

	f.IntVar(&o.warmup, "warmup", 0, "`runs` before those that count")
	f.IntVar(&o.runs, "runs", 1, "that count")
	f.DurationVar(&o.wait, "wait", time.Second, "between two runs")
	f.BoolVar(&o.mock, "mock", false, "load a server in this process that always gives the same reply, instead of --url: shows the loader's own limit")
	f.StringVar(&o.output, "o", "table", "output: table, or json with one object per run and one for all")

	f.StringVar(&o.external.CredentialsDir, "credentials-dir", "", "`folder` with the files "+record.UsernameKey+" and "+record.PasswordKey)
	f.StringVar(&o.external.CAFile, "ca-file", "", "`file` of PEM certificates that verify the cluster; unset: those of the machine")
	f.StringVar(&o.external.ClientCertificateDir, "client-certificate-dir", "", "`folder` with the files "+record.CertificateKey+" and "+record.PrivateKeyKey)
	return f
}

// complete converts the flags to fields of the Config and validates the result.
func (o *loadOptions) complete() error {
	c := &o.config
	if c.Bulk.Dataset == "" && len(c.Bulk.Files) == 0 {
		c.Bulk.Dataset = documents.Small
	}
	if c.Bulk.Dataset != "" && c.Bulk.Documents == 0 && o.duration == 0 {
		c.Bulk.Documents = 100_000
	}
	if o.dataStream != "" {
		c.Index, c.DataStream = o.dataStream, true
	}
	var err error
	if c.Bulk.DurationSeconds, err = seconds("--duration", o.duration); err != nil {
		return err
	}
	if c.TimeoutSeconds, err = seconds("--timeout", o.timeout); err != nil {
		return err
	}
	c.Retries = &o.retries
	switch {
	case o.output != "table" && o.output != "json":
		return fmt.Errorf("-o %s: it must be table or json", o.output)
	case o.runs < 1 || o.warmup < 0 || o.wait < 0:
		return fmt.Errorf("--runs %d, --warmup %d, --wait %s: at least one run, and no other below 0", o.runs, o.warmup, o.wait)
	case o.create && o.mock:
		return fmt.Errorf("--create-index and --mock: the mock has no index")
	case o.shards < 1 || o.shards > math.MaxInt32 || o.replicas < 0 || o.replicas > math.MaxInt32:
		return fmt.Errorf("--shards %d, --replicas %d: at least one primary, and no replicas below 0", o.shards, o.replicas)
	case o.bodyFile != "" && !o.create:
		return fmt.Errorf("--body needs --create-index, which creates the index with it")
	}
	if o.bodyFile != "" {
		if _, err := os.Stat(o.bodyFile); err != nil {
			return fmt.Errorf("--body: %w", err)
		}
	}
	if o.mock {
		c.URL = "http://localhost" // replaced when the mock server has started
	}
	return c.Validate()
}

func seconds(name string, d time.Duration) (int32, error) {
	if d%time.Second != 0 || d < 0 || d/time.Second > math.MaxInt32 {
		return 0, fmt.Errorf("%s %s: it must be whole seconds", name, d)
	}
	return int32(d / time.Second), nil
}

// intoNumber returns a function that parses a number above 0 into n. The digits may be separated by _.
func intoNumber(n *int64) func(string) error {
	return func(s string) (err error) {
		if *n, err = strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64); err != nil || *n < 1 {
			return fmt.Errorf("%q is not a number above 0", s)
		}
		return nil
	}
}

// sizes lists the units of a size. intoSize uses the first unit in this list with which the text ends. So a unit must be
// listed before each unit that is its suffix, for example KiB before B.
var sizes = []struct {
	unit  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"Ki", 1 << 10}, {"Mi", 1 << 20}, {"k", 1e3}, {"M", 1e6}, {"B", 1}, {"", 1}}

// intoSize returns a function that parses a size such as 2MB, 2M or 6.25MiB into n, in bytes.
func intoSize(n *int64) func(string) error {
	return func(s string) error {
		i := slices.IndexFunc(sizes, func(u struct {
			unit  string
			bytes float64
		}) bool {
			return strings.HasSuffix(s, u.unit)
		})
		x, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(strings.TrimSuffix(s, sizes[i].unit)), "_", ""), 64)
		if size := x * sizes[i].bytes; err == nil && size >= 1 && size <= 1<<40 {
			*n = int64(size)
			return nil
		}
		return fmt.Errorf("%q is not a size such as 2MB or 6.25MiB", s)
	}
}
