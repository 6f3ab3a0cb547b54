package osbtool

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestParseCorpus_realWorkload(t *testing.T) {
	rendered, err := os.ReadFile("testdata/osb/rendered.json")
	if err != nil {
		t.Fatal(err)
	}
	c, err := ParseCorpus(rendered, "", []string{"index"})
	if want := (Corpus{"nyc_taxis_mini", "documents.json"}); err != nil || c != want {
		t.Fatalf("%+v, %v, want %+v", c, err, want)
	}
	own := c.Paths(Run{Home: "/h"})
	given := c.Paths(Run{Home: "/h", WorkloadPath: "/w/nyc_taxis"})
	const downloads = "/h/.benchmark/benchmarks/data/nyc_taxis_mini/documents.json"
	if !slices.Equal(own, []string{downloads}) || !slices.Equal(given, []string{"/w/nyc_taxis/documents.json", downloads}) {
		t.Errorf("%q, %q", own, given)
	}
}

func TestParseCorpus(t *testing.T) {
	const one = `[{"name":"c","documents":[{"source-file":"d.json.bz2"}]}]`
	for name, c := range map[string]struct {
		corpora   string
		operation string // fields of the operation besides name, type and size
		patterns  []string
		want      string // path of the file
		refused   string
	}{
		"one file, packed":          {corpora: one, want: "d.json"},
		"in a folder, as a tarball": {corpora: `[{"name":"c","documents":[{"source-file":"a/d.json.tar.gz"}]}]`, want: "a/d.json"},
		"several files":             {corpora: `[{"name":"c","documents":[{"source-file":"a"},{"source-file":"b"}]}]`, refused: "uses 2 corpus files"},
		"several corpora":           {corpora: `[{"name":"c","documents":[{"source-file":"a"}]},{"name":"d","documents":[{"source-file":"b"}]}]`, refused: "uses 2 corpus files"},
		"one of several corpora": {corpora: `[{"name":"c","documents":[{"source-file":"a"}]},{"name":"d","documents":[{"source-file":"b"}]}]`,
			operation: `,"corpora":"d"`, want: "b"},
		"one of several indices": {corpora: `[{"name":"c","documents":[{"source-file":"a","target-index":"x"},{"source-file":"b","target-index":"y"}]}]`,
			operation: `,"indices":["y"]`, want: "b"},
		"one of several data streams": {corpora: `[{"name":"c","target-data-stream":"x","documents":[{"source-file":"a"},{"source-file":"b","target-data-stream":"y"}]}]`,
			operation: `,"data-streams":"x"`, want: "a"},
		"none":                                 {corpora: `[]`, refused: "uses 0 corpus files"},
		"with actions":                         {corpora: `[{"name":"c","documents":[{"source-file":"a","includes-action-and-meta-data":true}]}]`, refused: "file a of corpus c contains bulk action lines (includes-action-and-meta-data), but Knee's own loader can send only files of plain documents"},
		"with actions, says the corpus":        {corpora: `[{"name":"c","includes-action-and-meta-data":true,"documents":[{"source-file":"a"}]}]`, refused: "contains bulk action lines"},
		"with actions, but for the file":       {corpora: `[{"name":"c","includes-action-and-meta-data":true,"documents":[{"source-file":"a","includes-action-and-meta-data":false}]}]`, want: "a"},
		"made while it is sent":                {corpora: `[{"name":"c","streaming-ingestion":"aws","documents":[{"source-file":"a"}]}]`, refused: "sets streaming-ingestion, so there is no file"},
		"a file somewhere else":                {corpora: `[{"name":"c","documents":[{"source-file":"../a"}]}]`, refused: "is outside the workload's folder"},
		"through a pipeline":                   {corpora: one, operation: `,"pipeline":"p"`, refused: "task load sets the parameter pipeline"},
		"through no pipeline":                  {corpora: one, operation: `,"pipeline":"","request-params":{}`, want: "d.json"},
		"with ids that meet":                   {corpora: one, operation: `,"conflicts":"random"`, refused: "sets the parameter conflicts"},
		"with parameters of the bulk requests": {corpora: one, operation: `,"request-params":{"refresh":"true"}`, refused: "sets the parameter request-params"},
		"two tasks":                            {corpora: one, patterns: []string{"load", "more"}, refused: "2 tasks of the workload match"},
		"a task of another type":               {corpora: one, patterns: []string{"more"}, refused: "of operation-type raw-request"},
	} {
		t.Run(name, func(t *testing.T) {
			rendered := `{"corpora":` + c.corpora + `,"operations":[{"name":"load","operation-type":"bulk","bulk-size":10` + c.operation +
				`},{"name":"more","operation-type":"raw-request"}],"schedule":[{"operation":"load"},{"operation":"more"}]}`
			patterns := c.patterns
			if patterns == nil {
				patterns = []string{"type:bulk"}
			}
			got, err := ParseCorpus([]byte(rendered), "", patterns)
			if c.refused == "" {
				if err != nil || got.File != c.want {
					t.Errorf("%+v, %v, want %s", got, err, c.want)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%+v, %v, want an error with %q", got, err, c.refused)
			}
		})
	}
}
