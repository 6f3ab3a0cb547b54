package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/bundle"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

func example(t testing.TB) *bundle.Bundle {
	t.Helper()
	c := campaigntest.StudyCampaign()
	c.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("BenchmarkCampaign"))
	b := &bundle.Bundle{
		Versions: bundle.Versions{Format: bundle.Format, Knee: "v1", Plugin: "v2", Record: record.Version},
		Campaign: c, Records: map[string][]byte{}, Report: map[string]string{"report.md": "# study\n", "results.csv": "variant\n"},
	}
	p := plan.Build(c)
	for _, cell := range p.Cells {
		for _, trial := range p.SweepTrials(cell) {
			data, err := record.Encode(campaigntest.StudyRecord(trial))
			if err != nil {
				t.Fatal(err)
			}
			b.Records[cell.AttemptName(record.Attempt{Trial: trial, N: 1})+"-record"] = data
		}
	}
	for _, name := range []string{"z/series.jsonl", "a/osb.log"} {
		b.Artifacts = append(b.Artifacts, bundle.Artifact{Name: name, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("raw file of " + name)), nil
		}})
	}
	return b
}

func write(t testing.TB, b *bundle.Bundle) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := bundle.Write(&out, b); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestBundle_writtenAndRead_isUnchanged(t *testing.T) {
	b := example(t)
	data := write(t, b)
	if !bundle.IsBundle(data) || bundle.IsBundle([]byte("variant,clients\n")) {
		t.Error("a bundle is not told from a CSV")
	}
	got, err := bundle.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if got.Campaign.Name != "study" || got.Campaign.UID != b.Campaign.UID || !reflect.DeepEqual(got.Campaign.Spec, b.Campaign.Spec) {
		t.Errorf("campaign %+v", got.Campaign)
	}
	if !reflect.DeepEqual(got.Records, b.Records) || !reflect.DeepEqual(got.Report, b.Report) || got.Versions != b.Versions {
		t.Errorf("records, report or versions differ: %+v", got)
	}
	var names []string
	for _, a := range got.Artifacts {
		names = append(names, a.Name)
	}
	if want := []string{"a/osb.log", "z/series.jsonl"}; !slices.Equal(names, want) {
		t.Errorf("artifacts %v, want %v", names, want)
	}
	records, err := got.Decoded()
	if err != nil || len(records) != 14 || !slices.ContainsFunc(records, func(r record.Record) bool { return r.Ingest != nil && r.Ingest.DocsPerSecond == 349156 }) {
		t.Errorf("%d records, error %v", len(records), err)
	}
}

func TestWrite_sameContents_sameBytes(t *testing.T) {
	b := example(t)
	first := write(t, b)
	slices.Reverse(b.Artifacts)
	if !bytes.Equal(first, write(t, b)) {
		t.Error("the bytes depend on more than the contents")
	}
}

// file is one file of an archive.
type file struct {
	name, text string
	kind       byte
}

func unpack(t testing.TB, data []byte) []file {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var out []file
	for archive := tar.NewReader(zip); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, file{h.Name, string(text), h.Typeflag})
	}
}

func pack(t testing.TB, files []file) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Size: int64(len(f.text)), Mode: 0o644, Typeflag: f.kind}
		if f.kind == tar.TypeSymlink {
			h.Linkname, h.Size = "/etc/passwd", 0
		}
		if err := archive.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := archive.Write([]byte(f.text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRead_damagedBundle_fails(t *testing.T) {
	whole := unpack(t, write(t, example(t)))
	at := func(name string) int {
		i := slices.IndexFunc(whole, func(f file) bool { return strings.HasPrefix(f.name, name) })
		if i < 0 {
			t.Fatalf("no %s", name)
		}
		return i
	}
	one := at("records/")
	for name, tt := range map[string]struct {
		change func([]file) []file
		file   string
		want   string
	}{
		"another figure": {func(f []file) []file { f[one].text = strings.Replace(f[one].text, "3", "4", 1); return f }, whole[one].name, "its SHA-256 is "},
		"a raw file":     {func(f []file) []file { f[at("artifacts/")].text = "!"; return f }, "artifacts/a/osb.log", ", but checksums.txt lists "},
		"a file less":    {func(f []file) []file { return slices.Delete(f, one, one+1) }, whole[one].name, "missing"},
		"a file more":    {func(f []file) []file { return append(f, file{"report/more.md", "x", tar.TypeReg}) }, "report/more.md", "does not list it"},
		"a file twice":   {func(f []file) []file { return append(f, f[one]) }, whole[one].name, "twice"},
		"a link":         {func(f []file) []file { return append(f, file{"report/link", "", tar.TypeSymlink}) }, "report/link", "not a regular file, or its name is not allowed"},
		"a way out":      {func(f []file) []file { return append(f, file{"report/../../x", "x", tar.TypeReg}) }, "report/../../x", "not a regular file, or its name is not allowed"},
		"no checksums":   {func(f []file) []file { f[0].text = "what\n"; return f }, "checksums.txt", "does not have the format of sha256sum"},
	} {
		_, err := bundle.Read(bytes.NewReader(pack(t, tt.change(slices.Clone(whole)))))
		var d *bundle.Damaged
		if !errors.As(err, &d) || d.File != tt.file || !strings.Contains(d.Message, tt.want) {
			t.Errorf("%s: %v, want %s: %s", name, err, tt.file, tt.want)
		}
	}
	for name, data := range map[string][]byte{
		"no bundle":         pack(t, []file{{"README.md", "hello", tar.TypeReg}}),
		"no gzip":           []byte("variant,clients\n"),
		"a later format":    write(t, func() *bundle.Bundle { b := example(t); b.Versions.Format = 2; return b }()),
		"nothing":           {},
		"the checksums cut": write(t, example(t))[:300],
	} {
		if _, err := bundle.Read(bytes.NewReader(data)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// TestRead_campaignOfAnotherVersion_fails changes the campaign of a bundle and corrects its checksum.
func TestRead_campaignOfAnotherVersion_fails(t *testing.T) {
	whole := unpack(t, write(t, example(t)))
	for name, tt := range map[string]struct{ file, old, new, want string }{
		"unknown version of the API": {"campaign.json", `"knee.dev/v1alpha1"`, `"knee.dev/v1alpha9"`, "apiVersion knee.dev/v1alpha9"},
		"another kind":               {"campaign.json", `"BenchmarkCampaign"`, `"Campaign"`, "kind Campaign"},
		"API version renamed":        {"campaign.json", `"apiVersion"`, `"version"`, "apiVersion"},
		"spec renamed":               {"campaign.json", `"spec"`, `"specification"`, "spec"},
		"field of spec renamed":      {"campaign.json", `"topologies"`, `"shapes"`, `"shapes"`},
		"field in a list renamed":    {"campaign.json", `"primaries"`, `"shards"`, `"shards"`},
		"UID renamed":                {"campaign.json", `"uid"`, `"id"`, "metadata.uid"},
		"format renamed":             {"versions.json", `"format"`, `"version"`, "format"},
		"unknown format":             {"versions.json", `"format": 1`, `"format": 2`, "format 2"},
		"unknown version of records": {"versions.json", `"record": 1`, `"record": 2`, "version 2"},
		"version of records renamed": {"versions.json", `"record": 1`, `"records": 1`, "record"},
	} {
		changed := slices.Clone(whole)
		i := slices.IndexFunc(changed, func(f file) bool { return f.name == tt.file })
		if !strings.Contains(changed[i].text, tt.old) {
			t.Fatalf("%s: no %s in %s", name, tt.old, changed[i].text)
		}
		text := strings.Replace(changed[i].text, tt.old, tt.new, 1)
		changed[0].text = strings.Replace(changed[0].text, checksum(changed[i].text), checksum(text), 1)
		changed[i].text = text
		if _, err := bundle.Read(bytes.NewReader(pack(t, changed))); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
}

func checksum(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// TestRead_flippedByteOrCut_failsOrIsUnchanged flips each byte of a bundle and cuts the bundle at each length. Read must either return an
// error or the unchanged content.
func TestRead_flippedByteOrCut_failsOrIsUnchanged(t *testing.T) {
	b := example(t)
	for name := range b.Records {
		if len(b.Records) > 2 {
			delete(b.Records, name)
		}
	}
	data := write(t, b)
	want, err := bundle.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	harmless := 0 // number of flips that do not change the content: in the header of gzip, or to another code for the same bytes
	for i := range data {
		flipped := bytes.Clone(data)
		flipped[i] ^= 0x10
		if got, err := bundle.Read(bytes.NewReader(flipped)); err == nil {
			harmless++
			if !reflect.DeepEqual(got, want) {
				t.Errorf("byte %d of %d flipped, and nothing is said", i, len(data))
			}
		}
		if _, err := bundle.Read(bytes.NewReader(data[:i])); err == nil {
			t.Errorf("cut to %d of %d bytes, and nothing is said", i, len(data))
		}
	}
	if harmless > 20 {
		t.Errorf("%d of %d flips are not noticed", harmless, len(data))
	}
}

func TestWrite_invalidBundle_fails(t *testing.T) {
	b := example(t)
	b.Artifacts[0].Name = "../x"
	if err := bundle.Write(io.Discard, b); err == nil || !strings.Contains(err.Error(), `artifacts/../x`) {
		t.Errorf("a name that leaves the folder: %v", err)
	}
	b = example(t)
	calls := 0
	b.Artifacts[0].Open = func() (io.ReadCloser, error) {
		calls++
		return io.NopCloser(strings.NewReader(strings.Repeat("x", 4)[:3] + string(rune('0'+calls)))), nil
	}
	if err := bundle.Write(io.Discard, b); err == nil || !strings.Contains(err.Error(), "the file changed during the export") {
		t.Errorf("a file that changes: %v", err)
	}
	if err := bundle.Write(io.Discard, &bundle.Bundle{}); err == nil {
		t.Error("a bundle without a campaign")
	}
}

// FuzzRead fuzzes the archive inside the gzip stream, because the checksum of gzip would reject every change. If Read
// accepts a bundle, its files can be written and read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("checksums"))
	whole := example(f)
	whole.Records = map[string][]byte{"one": []byte("{}\n")} // small, so that most changes affect something relevant
	whole.Campaign.Spec = v1alpha1.BenchmarkCampaignSpec{Baseline: "a"}
	seed := unzip(f, write(f, whole))
	if b, err := bundle.Read(bytes.NewReader(zip(f, seed))); err != nil || len(b.Artifacts) != 2 {
		f.Fatalf("the seed is no bundle: %v", err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, archive []byte) {
		b, err := bundle.Read(bytes.NewReader(zip(t, archive)))
		if err != nil {
			return
		}
		if b.Campaign == nil {
			t.Fatal("a bundle without a campaign is read")
		}
		b.Artifacts = nil // Read returns only the names of artifacts
		again, err := bundle.Read(bytes.NewReader(write(t, b)))
		if err != nil || !reflect.DeepEqual(again, b) {
			t.Errorf("what was read is written as something else (%v):\n%+v\n%+v", err, b, again)
		}
	})
}

func zip(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(data)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func unzip(t testing.TB, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
