package osb

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/driverconfig"
)

const plainWorkload = `{"corpora":[{"name":"c","documents":[{"source-file":"d.json.bz2"}]}],"schedule":[{"operation":{"name":"index","operation-type":"bulk","bulk-size":500}}]}`

func TestAsBulk(t *testing.T) {
	for name, c := range map[string]struct {
		rendered string
		where    string // path of the file below the workload's folder or HOME; empty: no file
		outcome  driver.Outcome
		want     bulkconfig.Config // all fields except the files
		refused  string
	}{
		"a corpus beside the workload": {plainWorkload, "w/d.json", driver.Outcome{Corpus: 9000, BulkSize: 500}, bulkconfig.Config{Documents: 9000, FlushDocuments: 500}, ""},
		"a corpus that was downloaded": {plainWorkload, "h/.benchmark/benchmarks/data/c/d.json", driver.Outcome{Corpus: 9000, BulkSize: 500}, bulkconfig.Config{Documents: 9000, FlushDocuments: 500}, ""},
		"a timed load":                 {plainWorkload, "w/d.json", driver.Outcome{Timed: true, BulkSize: 500}, bulkconfig.Config{DurationSeconds: 91, FlushDocuments: 500}, ""},
		"no corpus":                    {plainWorkload, "", driver.Outcome{Corpus: 9000, BulkSize: 500}, bulkconfig.Config{}, "the corpus: stat "},
		"only a packed one":            {plainWorkload, "w/d.json.bz2", driver.Outcome{Corpus: 9000, BulkSize: 500}, bulkconfig.Config{}, "the corpus: stat "},
		"an unknown bulk size":         {plainWorkload, "w/d.json", driver.Outcome{Corpus: 9000}, bulkconfig.Config{}, "must set bulk-size to a number of at least 1"},
		"an unknown end":               {plainWorkload, "w/d.json", driver.Outcome{BulkSize: 500}, bulkconfig.Config{}, "the number of documents"},
		"another load": {strings.Replace(plainWorkload, `"bulk-size"`, `"pipeline":"p","bulk-size"`, 1), "w/d.json", driver.Outcome{Corpus: 1, BulkSize: 500},
			bulkconfig.Config{}, "task index sets the parameter pipeline"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.where != "" {
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(c.where)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, c.where), []byte("{}\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			d := &Driver{config: osbconfig.Config{IngestTasks: []string{"index"}},
				rendered: []byte(c.rendered), run: osbtool.Run{Home: filepath.Join(dir, "h"), WorkloadPath: filepath.Join(dir, "w")}}
			driven, err := d.AsBulk(c.outcome, 90*time.Second+time.Millisecond)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%s, %v, want an error with %q", driven.Config, err, c.refused)
				}
				return
			}
			if err != nil || driven.Name != bulkconfig.Name {
				t.Fatalf("driver %q, %v", driven.Name, err)
			}
			got := driverconfig.Of[bulkconfig.Config](record.Config{Driver: driven})
			if !slices.Equal(got.Files, []string{filepath.Join(dir, c.where)}) || got.Documents != c.want.Documents ||
				got.DurationSeconds != c.want.DurationSeconds || got.FlushDocuments != c.want.FlushDocuments || got.FlushBytes != 0 || got.Dataset != "" {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
