package agentside

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/record"
)

func TestNewDriver(t *testing.T) {
	for name, c := range map[string]struct {
		config record.DriverConfig
		want   string
		err    string
	}{
		"osb":                             {record.NewDriverConfig("osb", struct{}{}), "osb", ""},
		"bulk":                            {record.NewDriverConfig("bulk", struct{}{}), "bulk", ""},
		"stream":                          {record.NewDriverConfig("stream", struct{}{}), "stream", ""},
		"command":                         {record.NewDriverConfig("command", struct{}{}), "command", ""},
		"an unknown name":                 {record.NewDriverConfig("other", struct{}{}), "", `requires the driver "other", but this agent has only the drivers osb, bulk, stream, command`},
		"no driver":                       {record.DriverConfig{}, "", `requires the driver "", but this agent has only the drivers osb, bulk, stream, command`},
		"no configuration":                {record.DriverConfig{Name: "osb"}, "", "the configuration of driver osb"},
		"a configuration of another type": {record.NewDriverConfig("bulk", struct{ Files int }{1}), "", "the configuration of driver bulk"},
	} {
		d, err := driver.NewDriver(Drivers(), &driver.Session{Config: record.Config{Driver: c.config}})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || d.About().Name != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
