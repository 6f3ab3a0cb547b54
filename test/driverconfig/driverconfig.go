// Package driverconfig reads and changes the configuration of a driver in the agent's configuration, for tests. C is the
// configuration's type, for example bulkconfig.Config.
package driverconfig

import (
	"encoding/json"

	"github.com/knee-bench/knee/internal/record"
)

// Of returns the configuration of the driver. It panics if the configuration is not JSON of a C.
func Of[C any](c record.Config) C {
	var out C
	if err := json.Unmarshal(c.Driver.Config, &out); err != nil {
		panic("driver " + c.Driver.Name + ": " + err.Error())
	}
	return out
}

// Change changes the configuration of the driver. It panics in the same case as Of.
func Change[C any](c *record.Config, change func(*C)) {
	config := Of[C](*c)
	change(&config)
	c.Driver = record.NewDriverConfig(c.Driver.Name, config)
}
