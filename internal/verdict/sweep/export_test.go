package sweep

import "github.com/knee-bench/knee/internal/verdict/stats"

// ForgetAnswers empties the cache of AdaptiveNext, so that a test sees a new answer.
func ForgetAnswers() { nextCounts = stats.Cache[string, int32]{} }
