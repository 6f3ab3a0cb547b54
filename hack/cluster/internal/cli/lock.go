package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

// lock waits until no other command changes the cluster. The lock is also released when this process ends.
func lock(ctx context.Context, dir state.Dir, deadline time.Duration) (release func(), err error) {
	if err := os.MkdirAll(string(dir), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(dir.Lock(), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, deadline, true, func(context.Context) (bool, error) {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("another knee-cluster has locked %s: %w", dir.Lock(), err)
	}
	return func() { file.Close() }, nil
}
