package documents

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

// testLines returns five documents. The third has a field of the given length. testdata/lines.ndjson.bz2 contains the
// same documents without this field. Python's bz2 compressed it, because compress/bzip2 can only decompress.
func testLines(long int) string {
	return strings.Join([]string{`{"n":0}`, ``, ` {"n":1} `, `{"n":2,"long":"` + strings.Repeat("x", long) + `"}`, `{"n":3}`, `{"n":4}`}, "\n")
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	packFile(t, path, text)
	return path
}

// packFile writes a file and compresses it according to its extension.
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
			want   string // field n of the documents, sorted
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
				config := Config{Workers: 2, Clients: 2, Seed: 7}
				config.Bulk.FlushDocuments, config.Bulk.Files = 2, c.files
				c.change(&config)
				var got []string
				for _, d := range documentsOfFiles(t, config, held) {
					got = append(got, fmt.Sprint(d["n"]))
				}
				slices.Sort(got)
				if strings.Join(got, " ") != c.want {
					t.Errorf("documents %v, want %s", got, c.want)
				}
			})
		}
	}
}

// documentsOfFiles reads all documents of the files. If held is set, they are held in memory, otherwise they are
// streamed.
func documentsOfFiles(t *testing.T, c Config, held bool) []map[string]any {
	t.Helper()
	m, err := NewMaterial(c)
	if err != nil {
		t.Fatal(err)
	}
	if !held {
		m = StreamFiles(c)
	}
	return documentsOf(t, m, c)
}

func TestFiles_severalPods_shareDocuments(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, `{"n":%d}`+"\n", i)
	}
	path := writeFile(t, "a.json.gz", text.String())
	for _, held := range []bool{true, false} {
		seen, n := map[string]bool{}, 0
		for pod := range 3 {
			c := Config{Workers: []int{2, 2, 1}[pod], FirstClient: 2 * pod, Clients: 5, Seed: 7}
			c.Bulk.FlushDocuments, c.Bulk.Files = 7, []string{path}
			for _, d := range documentsOfFiles(t, c, held) {
				seen[fmt.Sprint(d["n"])] = true
				n++
			}
		}
		if len(seen) != 100 || n != 100 {
			t.Errorf("held %v: %d documents, %d of them distinct, of 100", held, n, len(seen))
		}
	}
}

func TestFiles_invalid_areRefused(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{filepath.Join(t.TempDir(), "none.json"), "no such file"},
		{writeFile(t, "empty.json", "\n \n"), "there is no document in"},
		{writeFile(t, "lines.json", "{}\nhello\n"), "a line is not a JSON object: hello"},
	} {
		config := configOf("")
		config.Bulk.Files = []string{c.path}
		if _, err := NewMaterial(config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// BenchmarkFiles measures the cost of reading files during a load. Other goroutines than the senders read the files.
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
