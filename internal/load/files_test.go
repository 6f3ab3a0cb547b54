package load

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// testLines is five documents, of which the third has a field as long as is asked for. testdata/lines.ndjson.bz2 holds the
// same five without it, packed by Python's bz2: compress/bzip2 does not pack.
func testLines(long int) string {
	return strings.Join([]string{`{"n":0}`, ``, ` {"n":1} `, `{"n":2,"long":"` + strings.Repeat("x", long) + `"}`, `{"n":3}`, `{"n":4}`}, "\n")
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	packFile(t, path, text)
	return path
}

// packFile writes a file, packed by what its name says.
func packFile(t testing.TB, path, text string) {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch filepath.Ext(path) {
	case ".gz":
		w = gzip.NewWriter(&out)
	case ".zst":
		w, err = zstd.NewWriter(&out)
	}
	if err != nil {
		t.Fatal(err)
	}
	if w == nil {
		out.WriteString(text)
	} else {
		_, _ = io.WriteString(w, text)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFiles(t *testing.T) {
	for _, held := range []bool{true, false} {
		for _, c := range []struct {
			name   string
			files  []string
			change func(*Config)
			want   string // the documents' n, sorted
		}{
			{"plain, once", []string{writeFile(t, "a.json", testLines(3<<20))}, func(*Config) {}, "0 1 2 3 4"},
			{"gzip", []string{writeFile(t, "a.json.gz", testLines(10))}, func(*Config) {}, "0 1 2 3 4"},
			{"zstd", []string{writeFile(t, "a.json.zst", testLines(10))}, func(*Config) {}, "0 1 2 3 4"},
			{"bzip2", []string{"testdata/lines.ndjson.bz2"}, func(*Config) {}, "0 1 2 3 4"},
			{"two files", []string{writeFile(t, "a.json", testLines(10)), writeFile(t, "b.gz", `{"n":5}`)}, func(*Config) {}, "0 1 2 3 4 5"},
			{"fewer than there are", []string{writeFile(t, "a.json", testLines(10))}, func(c *Config) { c.Bulk.Documents = 3 }, "0 1 2"},
			{"over again", []string{writeFile(t, "a.json", testLines(10))}, func(c *Config) { c.Bulk.Documents = 12 }, "0 0 0 1 1 1 2 2 3 3 4 4"},
		} {
			t.Run(fmt.Sprintf("%s, held %v", c.name, held), func(t *testing.T) {
				f := newFake(t, created)
				config := f.config(func(o *Config) {
					o.Bulk.Dataset, o.Bulk.Documents, o.Bulk.FlushDocuments, o.Bulk.Files = "", 0, 2, c.files
				}, c.change)
				r := runFiles(t, config, held)
				var got []string
				for _, d := range documentsOf(t, f.stored) {
					got = append(got, fmt.Sprint(d["n"]))
				}
				slices.Sort(got)
				if strings.Join(got, " ") != c.want || r.Ended != "" {
					t.Errorf("documents %v, want %s; ended %q", got, c.want, r.Ended)
				}
			})
		}
	}
}

// runFiles loads files as if they were few enough to be held, or too many.
func runFiles(t *testing.T, c Config, held bool) Result {
	t.Helper()
	l, err := prepare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !held {
		l.material = material{stream: &stream{files: c.Bulk.Files, action: action(c.DataStream)}}
	}
	r, err := l.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPodsShareFilesOut(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, `{"n":%d}`+"\n", i)
	}
	path := writeFile(t, "a.json.gz", text.String())
	for _, held := range []bool{true, false} {
		f := newFake(t, created)
		for pod := range 3 {
			runFiles(t, f.config(func(c *Config) {
				c.Bulk.Dataset, c.Bulk.Documents, c.Bulk.FlushDocuments, c.Bulk.Files = "", 0, 7, []string{path}
				c.Workers, c.FirstClient, c.Clients = []int{2, 2, 1}[pod], 2*pod, 5
			}), held)
		}
		seen := map[string]bool{}
		for _, d := range documentsOf(t, f.stored) {
			seen[fmt.Sprint(d["n"])] = true
		}
		if len(seen) != 100 || len(f.stored) != 100 {
			t.Errorf("held %v: %d documents, %d of them distinct, of 100", held, len(f.stored), len(seen))
		}
	}
}

func TestFilesThatAreNone(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{filepath.Join(t.TempDir(), "none.json"), "no such file"},
		{writeFile(t, "empty.json", "\n \n"), "there is no document in"},
		{writeFile(t, "lines.json", "{}\nhello\n"), "a line is not a JSON object: hello"},
	} {
		config := configOf("")
		config.Bulk.Files = []string{c.path}
		if _, err := newMaterial(config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// TestStreamEndsWithAnError has a file that breaks while it is streamed.
func TestStreamEndsWithAnError(t *testing.T) {
	f := newFake(t, created)
	path := writeFile(t, "a.json", strings.Repeat(`{"n":1}`+"\n", 10)+"hello\n")
	l, err := prepare(t.Context(), f.config())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.config.Bulk.Dataset, l.config.Bulk.Documents, l.config.Bulk.Files = "", 0, []string{path}
	l.config.Bulk.FlushDocuments = 4
	l.material = material{stream: &stream{files: []string{path}, action: actionIndex}}
	r, err := l.Run(t.Context())
	if err != nil || !strings.Contains(r.Ended, "a line is not a JSON object") || r.Documents.Acknowledged > 8 {
		t.Errorf("%+v, ended %q, %v", r.Documents, r.Ended, err)
	}
}

// BenchmarkFiles is what reading costs that is done while a load is under way, off the path that sends.
func BenchmarkFiles(b *testing.B) {
	generated := datasets[OTelLogs].make(1, actionIndex)
	var text strings.Builder
	for i := range generated.documents() {
		text.Write(generated.data[generated.start(i)+generated.action : generated.ends[i]])
	}
	for _, name := range []string{"a.json", "a.json.gz", "a.json.zst"} {
		path := filepath.Join(b.TempDir(), name)
		packFile(b, path, text.String())
		b.Run(name, func(b *testing.B) {
			before, documents := cpu(), 0
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				l := newLines([]string{path})
				for {
					if _, err := l.next(); err != nil {
						break
					}
					documents++
				}
				l.close()
			}
			b.ReportMetric(float64((cpu()-before).Nanoseconds())/float64(documents), "CPU-ns/document")
		})
	}
}
