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
	f.StringVar(&o.configFile, "config", "", "`file` with the load of a trial as JSON; all other flags except --result and --start are then ignored")
	f.StringVar(&o.resultFile, "result", "", "`file` for the result of --config; unset: standard output")
	f.StringVar(&o.startFile, "start", "", "`FIFO` for the start signal of --config: the load begins when a line arrives in this FIFO")

	c := &o.config
	f.StringVar(&c.URL, "url", "http://localhost:9200", "URL of the cluster")
	f.StringVar(&c.Bulk.Dataset, "dataset", "", "dataset that the loader generates: "+strings.Join(documents.Datasets(), ", ")+"; default without --file: small")
	f.Func("file", "`file` of documents as newline-delimited JSON, plain, .gz, .bz2 or .zst; may be given several times", func(s string) error {
		c.Bulk.Files = append(c.Bulk.Files, s)
		return nil
	})
	f.Func("count", "number of `documents` in each run, such as 1_000_000; without --count and --duration, a run sends each file once, or 100,000 documents of a dataset", intoNumber(&c.Bulk.Documents))
	f.DurationVar(&o.duration, "duration", 0, "length of each run, a whole number of seconds such as 30s, instead of --count")
	f.Func("flush-bytes", "`size` at which a bulk request is sent, such as 2MB or 6.25MiB (default 3MB)", intoSize(&c.Bulk.FlushBytes))
	f.Func("flush-documents", "number of `documents` in a bulk request, instead of --flush-bytes", func(s string) error {
		var n int64
		if err := intoNumber(&n)(s); err != nil {
			return err
		}
		if n < 1 || n > math.MaxInt32 {
			return fmt.Errorf("%d is out of range: the number must be from 1 to 2147483647", n)
		}
		c.Bulk.FlushDocuments = int32(n)
		return nil
	})
	f.IntVar(&c.Workers, "workers", runtime.NumCPU(), "connections, each sending one bulk request at a time")
	f.Uint64Var(&c.Seed, "seed", 1, "seed of the random parts of a dataset")
	f.IntVar(&o.retries, "retries", load.DefaultRetries, "maximum number of times that documents are sent again after status 429 or 5xx")
	f.DurationVar(&o.timeout, "timeout", load.DefaultTimeout, "timeout of one bulk request, a whole number of seconds such as 30s")

	f.StringVar(&c.Index, "index", "knee-load", "index to write to")
	f.StringVar(&o.dataStream, "data-stream", "", "data stream to write to, instead of --index")
	f.BoolVar(&o.create, "create-index", false, "delete the index or data stream before each run and create it again")
	f.StringVar(&o.bodyFile, "body", "", "`file` with the settings and mappings for --create-index; unset: the settings and mappings of the dataset")
	f.IntVar(&o.shards, "shards", 3, "number of primary shards for --create-index")
	f.IntVar(&o.replicas, "replicas", 0, "number of replicas for --create-index")
	f.StringVar(&o.refresh, "refresh-interval", "", "refresh interval for --create-index; unset: the value in --body or in the dataset, otherwise the default of OpenSearch")

	f.IntVar(&o.warmup, "warmup", 0, "number of warm-up `runs`; the summary leaves them out")
	f.IntVar(&o.runs, "runs", 1, "number of measured `runs`")
	f.DurationVar(&o.wait, "wait", time.Second, "pause between two runs, such as 5s")
	f.BoolVar(&o.mock, "mock", false, "send the load to a mock server in this process instead of --url, to measure the highest rate of the loader itself")
	f.StringVar(&o.output, "o", "table", "output format: table or json; json prints one object for each run, and one object with the summary at the end")

	f.StringVar(&o.external.CredentialsDir, "credentials-dir", "", "`folder` with the files "+record.UsernameKey+" and "+record.PasswordKey)
	f.StringVar(&o.external.CAFile, "ca-file", "", "`file` with PEM certificates that verify the cluster; unset: the certificates of the machine")
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
		return fmt.Errorf("-o %s: the value must be table or json", o.output)
	case o.runs < 1 || o.warmup < 0 || o.wait < 0:
		return fmt.Errorf("--runs %d, --warmup %d, --wait %s: --runs must be at least 1; --warmup and --wait must not be negative", o.runs, o.warmup, o.wait)
	case o.create && o.mock:
		return fmt.Errorf("--create-index cannot be used with --mock, because the mock server has no index")
	case o.shards < 1 || o.shards > math.MaxInt32 || o.replicas < 0 || o.replicas > math.MaxInt32:
		return fmt.Errorf("--shards %d, --replicas %d: --shards must be from 1 to 2147483647, and --replicas from 0 to 2147483647", o.shards, o.replicas)
	case o.bodyFile != "" && !o.create:
		return fmt.Errorf("--body has no effect without --create-index: add --create-index or remove --body")
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
		return 0, fmt.Errorf("%s %s: the value must be a whole number of seconds and must not be negative", name, d)
	}
	return int32(d / time.Second), nil
}

// intoNumber returns a function that parses a number above 0 into n. The digits may be separated by _.
func intoNumber(n *int64) func(string) error {
	return func(s string) (err error) {
		if *n, err = strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64); err != nil || *n < 1 {
			return fmt.Errorf("%q is not a whole number above 0", s)
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
		return fmt.Errorf("%q is not a size from 1 byte to 1 TiB, such as 2MB or 6.25MiB", s)
	}
}
