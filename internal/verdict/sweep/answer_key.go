package sweep

import (
	"encoding/binary"
	"math"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Caches of answers that take milliseconds to compute. The key holds all inputs. Each assessment of a campaign needs all answers again.
var (
	nextCounts  stats.Cache[string, int32]   // answers of chooseNext
	stabilities stats.Cache[string, float64] // answers of KneeStability
)

// answerKey holds everything that an answer depends on.
type answerKey []byte

func (k answerKey) addInt(n int) answerKey { return binary.LittleEndian.AppendUint64(k, uint64(n)) }

func (k answerKey) addFloat(f float64) answerKey {
	return binary.LittleEndian.AppendUint64(k, math.Float64bits(f))
}
