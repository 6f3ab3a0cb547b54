package cli

import (
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/knee-bench/knee/hack/cluster/internal/supervisor"
)

func superviseCommand(c *cluster) *cobra.Command {
	var programs string
	command := &cobra.Command{
		Use: "supervise", Short: "Run the cluster (started by up)", Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			api, err := inherit(3, "api")
			if err != nil {
				return err
			}
			control, err := inherit(4, "control")
			if err != nil {
				return err
			}
			return supervisor.Run(c.dir, supervisor.Listeners{API: api, Control: control}, programs)
		},
	}
	command.Flags().StringVar(&programs, "programs", "", "the directory of pause and runc-open-files")
	return command
}

// inherit returns a listener that the command up has opened.
func inherit(fd uintptr, name string) (net.Listener, error) {
	file := os.NewFile(fd, name)
	if file == nil {
		return nil, fmt.Errorf("no %s listener: `knee-cluster up` starts the supervisor", name)
	}
	defer file.Close()
	listener, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("%s listener: %w", name, err)
	}
	return listener, nil
}
