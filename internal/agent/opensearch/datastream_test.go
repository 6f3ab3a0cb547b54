package opensearch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const streamBody = `{"settings": {"number_of_shards": 7, "index": {"codec": "best_compression"}}, "mappings": {"dynamic": false, "properties": {"time": {"type": "date"}}}%s}`

func TestStreamTemplate(t *testing.T) {
	topology := Topology{Primaries: 12, Replicas: 1, RefreshInterval: "20s", Replication: "SEGMENT"}
	body := map[string]any{
		"settings": map[string]any{"index.number_of_shards": "12", "index.number_of_replicas": "1", "index.refresh_interval": "20s",
			"index.replication.type": "SEGMENT", "index.codec": "best_compression"},
		"mappings": map[string]any{"dynamic": false, "properties": map[string]any{"time": map[string]any{"type": "date"}}},
	}
	want := func(timestamp string) map[string]any {
		return map[string]any{"index_patterns": []string{"logs-otel"}, "priority": streamPriority, "template": body,
			"data_stream": map[string]any{"timestamp_field": map[string]any{"name": timestamp}}}
	}
	named := `, "data_stream": {"timestamp_field": {"name": "time"}}`
	plain := strings.Replace(streamBody, "%s", "", 1)
	for name, c := range map[string]struct {
		data string
		want map[string]any
	}{
		"the body of an index":    {plain, want("@timestamp")},
		"with its timestamp":      {strings.Replace(streamBody, "%s", named, 1), want("time")},
		"a whole index template":  {`{"index_patterns": ["logs-*"], "priority": 7, "template": ` + plain + named + `}`, want("time")},
		"one that names no field": {`{"data_stream": {}, "template": ` + plain + `}`, want("@timestamp")},
	} {
		got, err := StreamTemplate([]byte(c.data), "logs-otel", topology)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
	for _, bad := range []string{`[]`, `{"template": []}`, `{"settings": 5}`, `{"data_stream": true}`} {
		if got, err := StreamTemplate([]byte(bad), "logs-otel", topology); err == nil {
			t.Errorf("%s became %v", bad, got)
		}
	}
}

// TestDataStream_rolledOver_isReadBack reads replies of OpenSearch 3.1.0 for a data stream that rolled over once.
func TestDataStream_rolledOver_isReadBack(t *testing.T) {
	answers := map[string]string{
		"GET /logs-otel":              "testdata/data_stream_index.json",
		"GET /_data_stream/logs-otel": "testdata/data_stream.json",
		"GET /_data_stream/plain":     `{"data_streams":[]}`,
	}
	c := fakeCluster(t, answers)
	for name, want := range map[string]bool{"logs-otel": true, "plain": false, "nothing": false} {
		if got, err := c.IsDataStream(t.Context(), name); err != nil || got != want {
			t.Errorf("%s is a data stream: %t, %v", name, got, err)
		}
	}
	made, err := c.ReadIndex(t.Context(), "logs-otel")
	if err != nil || made.Primaries != 2 || made.Replicas != 1 || made.RefreshInterval != "20s" || made.Replication != "SEGMENT" || made.Digest == "" {
		t.Errorf("%+v, %v", made, err)
	}
	if made.UUID != "D2RcgHztQCerRnDn1tvl2Q" {
		t.Errorf("%s is not the newest backing index", made.UUID)
	}
	var backing map[string]indexAnswer
	data := readTestdata(t, "data_stream_index.json")
	if err := json.Unmarshal(data, &backing); err != nil {
		t.Fatal(err)
	}
	backing[".ds-logs-otel-000001"].Settings["index.number_of_replicas"] = "0"
	if _, err := newest("logs-otel", backing); err == nil || !strings.Contains(err.Error(), "000001 has 2 primaries, 0 replicas") {
		t.Errorf("backing indices that differ: %v", err)
	}
	if _, err := newest("logs", backing); err == nil {
		t.Error("another data stream's indices were taken")
	}
}

func TestCreateDataStream_otherTemplate_fails(t *testing.T) {
	c := fakeCluster(t, map[string]string{"PUT /_data_stream/x": `{}`, "GET /_data_stream/x": `{"data_streams":[{"name":"x","template":"theirs"}]}`})
	if err := c.CreateDataStream(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "theirs") {
		t.Errorf("%v", err)
	}
	for _, err := range []error{c.DeleteDataStream(t.Context(), "x"), c.DeleteStreamTemplate(t.Context(), "x")} {
		if err != nil {
			t.Errorf("deleting what is not there: %v", err)
		}
	}
}

func TestReadIndex_replication(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"set":                {`{"x":{"settings":{"index.replication.type":"SEGMENT"}}}`, "SEGMENT"},
		"the default":        {`{"x":{"settings":{},"defaults":{"index.replication.type":"DOCUMENT"}}}`, "DOCUMENT"},
		"an older version's": {`{"x":{"settings":{}}}`, "DOCUMENT"},
	} {
		made, err := fakeCluster(t, map[string]string{"GET /x": c.answer}).ReadIndex(t.Context(), "x")
		if err != nil || made.Replication != c.want {
			t.Errorf("%s: %+v, %v", name, made, err)
		}
	}
}

func readTestdata(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
