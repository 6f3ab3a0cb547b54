package trial

import (
	"errors"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

func openLoop(target int64, bulk, param string) record.Config {
	return record.Config{Trial: record.Trial{Phase: record.OpenLoop, TargetDocsPerSecond: target},
		OSB: &record.OSBConfig{Params: map[string]string{"bulk_size": bulk, "clients": "8"}, TargetThroughputParam: param}}
}

func TestOpenLoopHoldsTheLoadToItsRate(t *testing.T) {
	for _, c := range []struct {
		config record.Config
		want   string
		err    string
	}{
		{openLoop(240_000, "10000", "rate"), "24", ""},
		{openLoop(1234, "1000", "rate"), "1.234", ""},
		{openLoop(100_000, "3000", "rate"), "33.3333", ""},
		{openLoop(100_000, "", "rate"), "", "the parameter bulk_size"},
		{openLoop(100_000, "many", "rate"), "", "the parameter bulk_size"},
		{openLoop(100_000, "1000", ""), "", "targetThroughputParam"},
		{openLoop(0, "1000", "rate"), "", "no load"},
	} {
		got, err := loadParams(c.config, part{})
		if c.err != "" {
			var f *failure
			if !errors.As(err, &f) || !strings.Contains(f.message, c.err) {
				t.Errorf("%+v: %v, want %q", c.config.Trial, err, c.err)
			}
			continue
		}
		if err != nil || got["rate"] != c.want || got["clients"] != "8" || c.config.OSB.Params["rate"] != "" {
			t.Errorf("%v, %v, want %s", got, err, c.want)
		}
	}
	closed := openLoop(5, "", "rate")
	closed.Trial.Phase = record.Sweep
	if got, err := loadParams(closed, part{}); err != nil || len(got) != 2 {
		t.Errorf("a closed loop: %v, %v", got, err)
	}
}

func TestCheckTarget(t *testing.T) {
	config := openLoop(240_000, "10000", "rate")
	for name, c := range map[string]struct {
		targets map[string]driver.Target
		ok      bool
	}{
		"as asked":         {map[string]driver.Target{"index": {Value: 24, Unit: "ops/s"}}, true},
		"none":             {nil, false},
		"another rate":     {map[string]driver.Target{"index": {Value: 30, Unit: "ops/s"}}, false},
		"another unit":     {map[string]driver.Target{"index": {Value: 24, Unit: "docs/s"}}, false},
		"of another task":  {map[string]driver.Target{"search": {Value: 24, Unit: "ops/s"}}, false},
		"rounded by OSB's": {map[string]driver.Target{"index": {Value: 24.1, Unit: "ops/s"}}, true},
	} {
		err := checkTarget(config, part{}, []string{"index"}, c.targets)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "targetThroughputParam (rate)") {
			t.Errorf("%s: %v", name, err)
		}
	}
	config.Trial.Phase = record.Final
	if err := checkTarget(config, part{}, []string{"index"}, nil); err != nil {
		t.Errorf("a closed loop: %v", err)
	}
}

// The parameters of the searches, such as warmup_iterations, reach the run of the search tasks as they reach that of the load:
// both are called with the same file of parameters.
func TestLoadParams_searchParameters(t *testing.T) {
	c := openLoop(100_000, "1000", "rate")
	c.Trial.Phase = record.Final
	c.OSB.Params["warmup_iterations"], c.OSB.Params["index_settings"] = "10", "{}"
	got, err := loadParams(c, part{0, 1})
	if err != nil || got["warmup_iterations"] != "10" || got["index_settings"] != "{}" {
		t.Errorf("%v, %v", got, err)
	}
}
