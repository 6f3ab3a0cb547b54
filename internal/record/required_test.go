package record

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// required lists the fields of a record that a reader cannot do without. A field within a part is required only if the record has
// the part.
var required = strings.Fields(`
	version trial startedAt finishedAt
	trial.campaign trial.cell trial.variant trial.topology trial.phase trial.clients trial.repetition trial.attempt
	driver.name driver.exitCode settle.seconds
	ingest.from ingest.to ingest.seconds ingest.window ingest.documents ingest.docsPerSecond ingest.wholeDocsPerSecond
	ingest.drainedDocsPerSecond ingest.totalIndexed ingest.count ingest.indexBytes ingest.primaries ingest.replicas
	ingest.refreshInterval
	ingest.work.merges ingest.work.mergeSeconds ingest.work.mergedMiB ingest.work.refreshSeconds ingest.work.flushSeconds
	load.from load.to load.seconds load.rate load.unit load.latency.mean load.metrics.0.name
	rejections.writePool rejections.indexingPressure rejections.shardPressure rejections.admissionControl rejections.circuitBreakers
	nodes.0.name
	nodes.0.cpu.user nodes.0.cpu.sys nodes.0.cpu.iowait nodes.0.cpu.steal nodes.0.cpu.idle nodes.0.cpu.cores
	nodes.0.reportedCPU.mean nodes.0.reportedCPU.min nodes.0.reportedCPU.max nodes.0.reportedCPU.samples
	nodes.0.cpuRange.min nodes.0.cpuRange.max nodes.0.cpuRange.seconds
	nodes.0.pressure.cpu nodes.0.pressure.memory nodes.0.pressure.io
	nodes.0.disk.readMiBs nodes.0.disk.writeMiBs nodes.0.disk.iops
	nodes.0.network.receiveMiBs nodes.0.network.transmitMiBs
	nodes.0.writePool.activeMax nodes.0.writePool.queueMax
	nodes.0.gc.collections nodes.0.gc.millis nodes.0.gc.pauses.count nodes.0.gc.pauses.millis
	nodes.0.environment.mlockall
	pooled.nodes
	pooled.cpu.user pooled.cpu.sys pooled.cpu.iowait pooled.cpu.steal pooled.cpu.idle pooled.cpu.cores
	pooled.reportedCPU.mean pooled.reportedCPU.min pooled.reportedCPU.max pooled.reportedCPU.samples
	pooled.cpuRange.min pooled.cpuRange.max pooled.cpuRange.seconds
	pooled.pressure.cpu pooled.pressure.memory pooled.pressure.io
	pooled.disk.readMiBs pooled.disk.writeMiBs pooled.disk.iops pooled.network.receiveMiBs pooled.network.transmitMiBs
	pooled.gc.collections pooled.gc.millis pooled.gc.pauses.count pooled.gc.pauses.millis
	loader.cpuCores loader.busiestPercent loader.clientUtilization
	tasks.0.name tasks.0.throughput tasks.0.errorRate tasks.0.latency.mean tasks.0.serviceTime.mean
	error.reason error.message`)

// everyField returns a record of the first release with a frozen format. It has every field.
func everyField(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../../test/releases/testdata/ae56b0a/records/every-field.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// paths returns the paths of all fields of a JSON value. The elements of a list have their index as name.
func paths(value any, path string) []string {
	var out []string
	add := func(name string, part any) {
		name = strings.TrimPrefix(path+"."+name, ".")
		out = append(append(out, name), paths(part, name)...)
	}
	switch v := value.(type) {
	case map[string]any:
		for name, part := range v {
			add(name, part)
		}
	case []any:
		for i, part := range v {
			out = append(out, paths(part, strings.TrimPrefix(path+"."+strconv.Itoa(i), "."))...)
		}
	}
	return out
}

// changed returns the record everyField after change was called with the object that holds the field, and with the field's name.
func changed(t *testing.T, path string, change func(object map[string]any, name string)) []byte {
	t.Helper()
	var record any
	if err := json.Unmarshal(everyField(t), &record); err != nil {
		t.Fatal(err)
	}
	names := strings.Split(path, ".")
	at := record
	for _, name := range names[:len(names)-1] {
		if list, is := at.([]any); is {
			i, err := strconv.Atoi(name)
			if err != nil {
				t.Fatal(err)
			}
			at = list[i]
			continue
		}
		at = at.(map[string]any)[name]
	}
	change(at.(map[string]any), names[len(names)-1])
	data, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDecode_fieldMissing_failsIfRequired removes, renames and clears each field of a record in turn.
func TestDecode_fieldMissing_failsIfRequired(t *testing.T) {
	var record any
	if err := json.Unmarshal(everyField(t), &record); err != nil {
		t.Fatal(err)
	}
	all := paths(record, "")
	for _, path := range required {
		if !slices.Contains(all, path) {
			t.Errorf("the record lacks %s: the test needs every field", path)
		}
	}
	for how, change := range map[string]func(object map[string]any, name string){
		"removed": func(object map[string]any, name string) { delete(object, name) },
		"renamed": func(object map[string]any, name string) { object["a"+name] = object[name]; delete(object, name) },
		"in capitals": func(object map[string]any, name string) {
			object[strings.ToUpper(name)] = object[name]
			delete(object, name)
		},
		"without its value": func(object map[string]any, name string) { object[name] = nil },
	} {
		for _, path := range all {
			_, err := Decode(changed(t, path, change))
			switch {
			case slices.Contains(required, path) && (err == nil || !strings.Contains(err.Error(), path+" ")):
				t.Errorf("%s %s: error %v, want an error with the name of the field", path, how, err)
			case !slices.Contains(required, path) && err != nil:
				t.Errorf("%s %s: error %v, but the field is optional", path, how, err)
			}
		}
	}
}

func TestDecode_noResult_fails(t *testing.T) {
	for _, renamed := range []string{"", "ingestion"} {
		data := changed(t, "ingest", func(object map[string]any, name string) {
			if renamed != "" {
				object[renamed] = object[name]
			}
			delete(object, name)
			delete(object, "load")
			delete(object, "error")
		})
		if _, err := Decode(data); err == nil || !strings.Contains(err.Error(), "ingest, load and error") {
			t.Errorf("ingest renamed to %q: error %v", renamed, err)
		}
	}
}

func TestDecode_unknownVersion_fails(t *testing.T) {
	for _, version := range []any{0, 2, 1.5, "1", nil} {
		data := changed(t, "version", func(object map[string]any, name string) { object[name] = version })
		if _, err := Decode(data); err == nil || !strings.Contains(err.Error(), "version") {
			t.Errorf("version %v: error %v", version, err)
		}
	}
}
