package osb

import (
	"errors"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	"github.com/knee-bench/knee/internal/record"
)

// rated is the configuration of a load with a limited rate.
type rated struct {
	osbconfig.Config
	Trial record.Trial
}

func openLoop(target int64, bulk, param string) rated {
	return rated{osbconfig.Config{Params: map[string]string{"bulk_size": bulk, "clients": "8"}, TargetThroughputParam: param},
		record.Trial{Phase: record.OpenLoop, TargetDocsPerSecond: target}}
}

func TestLoadParams_openLoop_setsRate(t *testing.T) {
	for _, c := range []struct {
		config rated
		want   string
		err    string
	}{
		{openLoop(240_000, "10000", "rate"), "24", ""},
		{openLoop(1234, "1000", "rate"), "1.234", ""},
		{openLoop(100_000, "3000", "rate"), "33.3333", ""},
		{openLoop(100_000, "", "rate"), "", "the parameter bulk_size"},
		{openLoop(100_000, "many", "rate"), "", "the parameter bulk_size"},
		{openLoop(100_000, "1000", ""), "", "targetThroughputParam"},
		{openLoop(0, "1000", "rate"), "", "0 bulk requests per second"},
	} {
		got, err := loadParams(c.config.Config, c.config.Trial, driver.Part{})
		if c.err != "" {
			var f *record.Error
			if !errors.As(err, &f) || !strings.Contains(f.Message, c.err) {
				t.Errorf("%+v: %v, want %q", c.config.Trial, err, c.err)
			}
			continue
		}
		if err != nil || got["rate"] != c.want || got["clients"] != "8" || c.config.Params["rate"] != "" {
			t.Errorf("%v, %v, want %s", got, err, c.want)
		}
	}
	closed := openLoop(5, "", "rate")
	closed.Trial.Phase = record.Sweep
	if got, err := loadParams(closed.Config, closed.Trial, driver.Part{}); err != nil || len(got) != 2 {
		t.Errorf("a closed loop: %v, %v", got, err)
	}
}

func TestCheckTarget(t *testing.T) {
	config := openLoop(240_000, "10000", "rate")
	for name, c := range map[string]struct {
		targets map[string]osbtool.Target
		ok      bool
	}{
		"as asked":         {map[string]osbtool.Target{"index": {Value: 24, Unit: "ops/s"}}, true},
		"none":             {nil, false},
		"another rate":     {map[string]osbtool.Target{"index": {Value: 30, Unit: "ops/s"}}, false},
		"another unit":     {map[string]osbtool.Target{"index": {Value: 24, Unit: "docs/s"}}, false},
		"of another task":  {map[string]osbtool.Target{"search": {Value: 24, Unit: "ops/s"}}, false},
		"rounded by OSB's": {map[string]osbtool.Target{"index": {Value: 24.1, Unit: "ops/s"}}, true},
	} {
		err := checkTarget(config.Config, config.Trial, driver.Part{}, []string{"index"}, c.targets)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "targetThroughputParam (now rate)") {
			t.Errorf("%s: %v", name, err)
		}
	}
	config.Trial.Phase = record.Final
	if err := checkTarget(config.Config, config.Trial, driver.Part{}, []string{"index"}, nil); err != nil {
		t.Errorf("a closed loop: %v", err)
	}
}

// TestLoadParams_searchParameters checks that parameters of the searches, such as warmup_iterations, are among the
// parameters of the load. The load and the search tasks are run with the same file of parameters.
func TestLoadParams_searchParameters(t *testing.T) {
	c := openLoop(100_000, "1000", "rate")
	c.Trial.Phase = record.Final
	c.Params["warmup_iterations"], c.Params["index_settings"] = "10", "{}"
	got, err := loadParams(c.Config, c.Trial, driver.Part{Index: 0, Of: 1})
	if err != nil || got["warmup_iterations"] != "10" || got["index_settings"] != "{}" {
		t.Errorf("%v, %v", got, err)
	}
}
