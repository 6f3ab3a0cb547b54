package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// RaiseMapCount raises the machine's vm.max_map_count to the value that OpenSearch requires, if the current value is lower.
// It returns a description of its action.
func RaiseMapCount(proc string) (string, error) {
	path := filepath.Join(proc, "sys/vm/max_map_count")
	is, err := strconv.ParseInt(line(path), 10, 64)
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot read vm.max_map_count: %w", err)
	case is >= minMapCount:
		return fmt.Sprintf("vm.max_map_count is %d, which is enough", is), nil
	}
	if err := os.WriteFile(path, []byte(strconv.Itoa(minMapCount)), 0o644); err != nil {
		return "", fmt.Errorf("cannot raise vm.max_map_count from %d to %d, the minimum for OpenSearch: check that this container is privileged: %w", is, minMapCount, err)
	}
	return fmt.Sprintf("vm.max_map_count was %d and is %d now", is, minMapCount), nil
}
