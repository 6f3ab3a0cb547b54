package osbtool

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestParseIngest(t *testing.T) {
	inline := `{"operations":[{"name":"bulk-a","operation-type":"bulk","bulk-size":"500","ingest-percentage":50}],
	  "test_procedures":[{"name":"p","schedule":[
	    {"operation":"delete-index"},
	    {"parallel":{"time-period":30,"warmup-time-period":9,"tasks":[{"operation":"bulk-a","name":"first"},{"operation":{"operation-type":"bulk","name":"second","bulk-size":7,"ingest-percentage":50},"clients":"3"}]}},
	    {"operation":{"operation-type":"bulk","looped":true,"bulk-size":1000},"name":"index"}]}]}`
	// The clients of a parallel element are an upper limit for its tasks and not a default. opensearch-benchmark
	// reads them like this.
	bounded := `{"test_procedures":[{"name":"p","schedule":[{"parallel":{"clients":4,"tasks":[
	    {"operation":{"operation-type":"bulk","name":"b"},"clients":8},{"operation":{"operation-type":"bulk","name":"c","clients":9},"clients":2}]}}]}]}`
	for name, c := range map[string]struct {
		rendered, procedure string
		patterns            []string
		want                Ingest
		err                 string
	}{
		"the default procedure":    {read(t, "rendered.json"), "", []string{"index"}, Ingest{[]string{"index"}, 1000, 0, 100, false, []int64{2}}, ""},
		"by type":                  {read(t, "rendered.json"), "append-no-conflicts-index-only", []string{"type:bulk"}, Ingest{[]string{"index"}, 1000, 0, 100, false, []int64{2}}, ""},
		"a looped one":             {read(t, "rendered.json"), "index-timed", []string{"index"}, Ingest{[]string{"index"}, 1000, 15, 100, true, []int64{2}}, ""},
		"looped, inline":           {inline, "p", []string{"index"}, Ingest{[]string{"index"}, 1000, 0, 100, true, []int64{1}}, ""},
		"within parallel":          {inline, "", []string{"first"}, Ingest{[]string{"first"}, 500, 9, 50, true, []int64{1}}, ""},
		"in the asked order":       {inline, "p", []string{"second", "type:bulk"}, Ingest{[]string{"second", "first", "index"}, 7, 9, 50, true, []int64{3, 1, 1}}, ""},
		"fewer clients than asked": {bounded, "p", []string{"type:bulk"}, Ingest{[]string{"b", "c"}, 0, 0, 100, false, []int64{4, 2}}, ""},
		"no such task":             {inline, "p", []string{"indx"}, Ingest{}, `no task of the workload's test procedure "p" matches indx`},
		"no such procedure":        {inline, "q", []string{"index"}, Ingest{}, `no test procedure "q"`},
		"not JSON":                 {"{", "", []string{"index"}, Ingest{}, "not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseIngest([]byte(c.rendered), c.procedure, c.patterns)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %s", err, c.err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func TestDocumentsToSend(t *testing.T) {
	real := read(t, "benchmark.log")
	if path := RenderedWorkloadPath([]byte(real)); path != "/tmp/tmpkjaih17k.json" {
		t.Errorf("rendered workload at %q", path)
	}
	line := func(from, to, docs int, corpus string) string {
		return fmt.Sprintf("INFO Task-relative clients at index [%d-%d] will bulk index [%d] docs starting from line offset [0] for [i/None] from corpus [%s].\n", from, to, docs, corpus)
	}
	all := Ingest{Tasks: []string{"index"}, BulkSize: 1000, Share: 100}
	part := func(share float64) Ingest {
		return Ingest{Tasks: []string{"index"}, BulkSize: 1000, Share: share}
	}
	for name, c := range map[string]struct {
		log    string
		ingest Ingest
		want   int64
	}{
		"a real run":                  {real, all, 200000},
		"two corpora":                 {line(0, 1, 10, "a") + line(0, 1, 5, "b"), all, 15},
		"timed":                       {real, Ingest{Timed: true, Share: 100}, 0},
		"a tenth":                     {line(0, 0, 50_500, "a") + line(1, 1, 50_500, "a"), part(10), 12_000}, // each client sends 6 of its 51 bulks
		"the last bulk is not full":   {line(0, 0, 1_500, "a"), part(99), 1_500},
		"a share of several corpora":  {line(0, 1, 10_000, "a") + line(0, 1, 5_000, "b"), part(10), 0},
		"a share without a bulk size": {line(0, 1, 10_000, "a"), Ingest{Tasks: []string{"index"}, Share: 10}, 0},
		"nothing was said":            {"", all, 0},
	} {
		if got := DocumentsToSend([]byte(c.log), c.ingest); got != c.want {
			t.Errorf("%s: %d documents, want %d", name, got, c.want)
		}
	}
}
