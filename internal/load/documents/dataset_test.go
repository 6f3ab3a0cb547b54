package documents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// sizesOf returns the number and the mean size of a block's documents.
func sizesOf(b *block) (n int, mean float64) {
	n = b.documents()
	return n, float64(len(b.data)-n*(b.action+1)) / float64(n)
}

func TestDatasets_documentSizes(t *testing.T) {
	if len(smallDocument) != 90 || len(actionIndex)+len(smallDocument)+2 != 104 {
		t.Errorf("the small document has %d B, with its action line %d", len(smallDocument), len(actionIndex)+len(smallDocument)+2)
	}
	for _, c := range []struct {
		dataset   string
		mean      float64
		tolerance float64
	}{{Small, 90, 0}, {HTTPLog, 2500, 0.02}, {OTelLogs, 1.6 * 1024, 0.02}} {
		for seed := range uint64(5) {
			n, mean := sizesOf(datasets[c.dataset].make(seed, actionIndex))
			if math.Abs(mean/c.mean-1) > c.tolerance {
				t.Errorf("%s, seed %d: %d documents have %.1f B in the mean, want %.1f", c.dataset, seed, n, mean, c.mean)
			}
		}
	}
}

func TestDatasets_sameSeed_sameDocuments(t *testing.T) {
	for _, name := range Datasets() {
		a, b := datasets[name].make(1, actionIndex), datasets[name].make(1, actionIndex)
		if !bytes.Equal(a.data, b.data) {
			t.Errorf("%s: the same seed gives other documents", name)
		}
		if c := datasets[name].make(2, actionIndex); name != Small && bytes.Equal(a.data, c.data) {
			t.Errorf("%s: another seed gives the same documents", name)
		}
	}
}

// mapped lists the leaf fields of mappings. A flat object is one leaf.
func mapped(properties map[string]any, prefix string, into map[string]string) {
	for name, v := range properties {
		field := v.(map[string]any)
		if nested, ok := field["properties"].(map[string]any); ok {
			mapped(nested, prefix+name+".", into)
			continue
		}
		into[prefix+name] = field["type"].(string)
	}
}

func TestBody_mapsFieldsOfDocuments(t *testing.T) {
	for _, name := range Datasets() {
		text, err := Body(name)
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Mappings struct{ Properties map[string]any }
		}
		if err := json.Unmarshal(text, &body); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		types := map[string]string{}
		mapped(body.Mappings.Properties, "", types)
		stamp, err := TimestampField(name)
		if err != nil || types[stamp] != "date" {
			t.Errorf("%s: the time field %s has type %q, %v", name, stamp, types[stamp], err)
		}
		b := datasets[name].make(1, actionIndex)
		var document map[string]any
		if err := json.Unmarshal(b.data[b.action:b.ends[0]], &document); err != nil {
			t.Fatal(err)
		}
		for field := range types {
			var at any = document
			for part := range strings.SplitSeq(field, ".") {
				at = at.(map[string]any)[part]
			}
			if at == nil {
				t.Errorf("%s: no document has field %s", name, field)
			}
		}
	}
	if _, err := Body("nyc_taxis"); err == nil || !strings.Contains(err.Error(), "small, httplog, otel-logs") {
		t.Errorf("error %v", err)
	}
}

func TestOTelRecords_idsAndTimesAreValid(t *testing.T) {
	const n = 3 * otelRecords
	c := configOf(OTelLogs)
	c.Seed, c.Bulk.DurationSeconds, c.Bulk.Documents, c.Bulk.FlushDocuments = 7, 0, n, 5000
	m, err := NewMaterial(c)
	if err != nil {
		t.Fatal(err)
	}
	all := documentsOf(t, m, c)
	distinct := func(field string) int {
		seen := map[string]bool{}
		for _, d := range all {
			seen[fmt.Sprint(d[field])] = true
		}
		return len(seen)
	}
	for field, want := range map[string]int{"traceId": n, "spanId": n, "time": n, "serviceName": otelServiceCount, "severityText": len(severities), "schemaUrl": 1} {
		if got := distinct(field); got != want {
			t.Errorf("%d records have %d values of %s, want %d", n, got, field, want)
		}
	}
	first, err := time.Parse("2006-01-02T15:04:05.000Z", all[0]["time"].(string))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if len(d["traceId"].(string)) != 32 || len(d["spanId"].(string)) != 16 {
			t.Fatalf("ids of %v", d)
		}
		at, err := time.Parse("2006-01-02T15:04:05.000Z", d["time"].(string))
		observed, err2 := time.Parse("2006-01-02T15:04:05.000Z", d["observedTime"].(string))
		if err != nil || err2 != nil || observed.Before(at) || at.Sub(first).Abs() > n*time.Millisecond {
			t.Fatalf("times of %v", d)
		}
	}
}

func TestStamps(t *testing.T) {
	s := newStamps()
	for _, ms := range []int64{0, 1, 999, 1000, 59_999, 60_000, 86_399_999, 86_400_000, 5_097_599_999, 31_536_000_123, 1 << 35} {
		want := stampsFrom.Add(time.Duration(ms) * time.Millisecond).Format("2006-01-02T15:04:05.000Z")
		if got := string(s.put(make([]byte, timeSize), ms)); got != want {
			t.Errorf("%d ms: %s, want %s", ms, got, want)
		}
	}
}

// TestOpen_podsOfTimedLoad_useDifferentIDs checks that pods of a timed load use different document ids.
func TestOpen_podsOfTimedLoad_useDifferentIDs(t *testing.T) {
	seen := map[string]bool{}
	for pod := range 4 {
		m, err := NewMaterial(Config{Bulk: configOf(OTelLogs).Bulk, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		c := configOf(OTelLogs)
		c.FirstClient, c.Clients, c.Seed = 2*pod, 8, 3
		sources, stop, err := m.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		b, err := sources[pod%len(sources)].Next()
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(bytes.Join(b.Parts, nil), newline) {
			if i%2 == 1 {
				seen[string(line[spanAt:spanAt+spanSize])] = true
			}
		}
	}
	if len(seen) != 400 {
		t.Errorf("four pods gave 100 documents each %d spanIds", len(seen))
	}
}

func configOf(dataset string) Config {
	c := Config{Workers: 2, Clients: 2}
	c.Bulk.Dataset, c.Bulk.DurationSeconds, c.Bulk.FlushDocuments = dataset, 1, 100
	return c
}
