package workloads

import "testing"

func TestDocuments(t *testing.T) {
	for _, tt := range []struct {
		name     string
		workload string
		params   map[string]string
		want     int64
		known    bool
	}{
		{"the whole corpus", "nyc_taxis", nil, 165_346_692, true},
		{"a tenth", "nyc_taxis", map[string]string{"ingest_percentage": "10"}, 16_534_669, true},
		{"no share", "nyc_taxis", map[string]string{"ingest_percentage": "all"}, 0, false},
		{"another size", "big5", map[string]string{"corpus_size": "60"}, 69_223_950, true},
		{"a size of the user's own", "big5", map[string]string{"corpus_size": "1"}, 0, false},
		{"a parameter that the workload does not have", "geonames", map[string]string{"corpus_size": "60"}, 11_396_503, true},
		{"an unknown workload", "mine", nil, 0, false},
	} {
		got, known := Documents(tt.workload, func(name string) (string, bool) { v, ok := tt.params[name]; return v, ok })
		if got != tt.want || known != tt.known {
			t.Errorf("%s: %d %t, want %d %t", tt.name, got, known, tt.want, tt.known)
		}
	}
}

func TestIndex(t *testing.T) {
	if index, ok := Index("http_logs"); index != "logs-*" || !ok {
		t.Errorf("http_logs fills %q", index)
	}
	if index, ok := Index("mine"); ok {
		t.Errorf("an unknown workload fills %q", index)
	}
	if len(Names()) != len(official) {
		t.Error(Names())
	}
}
