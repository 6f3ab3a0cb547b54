package opensearch

import (
	"encoding/json"
	"testing"
)

// TestBodyOf checks that BodyOf removes the settings that identify one index and keeps all other settings. IndexBody
// must accept the result as an index body.
func TestBodyOf(t *testing.T) {
	answer := `{"i":{"aliases":{"all":{}},"mappings":{"dynamic":"strict","properties":{"a":{"type":"keyword"}}},"settings":{"index.creation_date":"1",` +
		`"index.number_of_replicas":"1","index.number_of_shards":"6","index.provided_name":"i","index.refresh_interval":"30s","index.uuid":"u1",` +
		`"index.version.created":"137227827","index.version.upgraded":"137227827","index.codec":"zstd","index.translog.durability":"async"}}}`
	c := fakeCluster(t, map[string]string{"GET /i": answer, "GET /alias": answer})
	data, err := c.BodyOf(t.Context(), "i")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"aliases":{"all":{}},"mappings":{"dynamic":"strict","properties":{"a":{"type":"keyword"}}},"settings":{"index.codec":"zstd",` +
		`"index.number_of_replicas":"1","index.number_of_shards":"6","index.refresh_interval":"30s","index.translog.durability":"async"}}`
	if string(data) != want {
		t.Errorf("%s, want %s", data, want)
	}
	body, err := IndexBody(data, Topology{Primaries: 6, Replicas: 1, RefreshInterval: "30s"})
	if again, _ := json.Marshal(body); err != nil || string(again) != want {
		t.Errorf("%v: as a body it is %s", err, again)
	}
	if data, err := c.BodyOf(t.Context(), "alias"); err == nil {
		t.Errorf("an alias has the body %s", data)
	}
}
