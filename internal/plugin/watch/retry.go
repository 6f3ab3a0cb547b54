package watch

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Patience is how long a command waits for the first answer of the API server.
const Patience = time.Minute

// Retry repeats a step until the step is over, and returns its last error. A step follows campaigns until they are over, or until the
// API server ends the watch or cannot be reached. Retry passes an error that differs from the one before to note. It gives up if the API
// server has not answered within the patience.
func Retry(ctx context.Context, patience time.Duration, note func(error), step func() (answered, over bool, err error)) error {
	pause := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Cap: 5 * time.Second, Steps: 100}
	began, said := time.Now(), ""
	for {
		answered, over, err := step()
		if over {
			return err
		}
		if err != nil && ctx.Err() == nil && err.Error() != said {
			said = err.Error()
			note(err)
		}
		if err != nil && !answered && time.Since(began) > patience {
			return fmt.Errorf("the API server has not answered within %s: %w", patience, err)
		}
		select { // wait before connecting again: the API server may be restarting
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause.Step()):
		}
	}
}

// IsHopeless reports whether another request would give the same error: the user has no permission, or Knee is not
// installed.
func IsHopeless(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || meta.IsNoMatchError(err)
}
