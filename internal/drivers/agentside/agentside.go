// Package agentside lists the drivers of the agent.
package agentside

import (
	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/drivers/bulk"
	"github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"
	"github.com/knee-bench/knee/internal/drivers/command"
	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/osb"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/drivers/stream"
	"github.com/knee-bench/knee/internal/drivers/stream/streamconfig"
)

// Drivers returns all drivers of the agent. To add a driver, add one line here.
func Drivers() []driver.Factory {
	return []driver.Factory{
		{Name: osbconfig.Name, New: osb.New},
		{Name: bulkconfig.Name, New: bulk.New},
		{Name: streamconfig.Name, New: stream.New},
		{Name: commandconfig.Name, New: command.New},
	}
}
