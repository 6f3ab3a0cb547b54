package sweep

import (
	"encoding/binary"
	"math"
	"sync"
)

// answerCache keeps answers that take milliseconds to compute, because each assessment of a campaign asks for all of them again.
// An answer depends only on its key.
type answerCache[V any] struct {
	guard   sync.Mutex
	answers map[string]V
}

var (
	nextCounts  = answerCache[int32]{answers: map[string]int32{}}     // answers of chooseNext
	stabilities = answerCache[float64]{answers: map[string]float64{}} // answers of KneeStability
)

// maxAnswers limits the number of answers of a cache. The key of a count in an adaptive sweep has at most 64 bytes.
const maxAnswers = 4096

// find returns the known answer, or the answer of the function.
func (c *answerCache[V]) find(key answerKey, answer func() V) V {
	c.guard.Lock()
	known, ok := c.answers[string(key)]
	c.guard.Unlock()
	if ok {
		return known
	}
	known = answer()
	c.guard.Lock()
	defer c.guard.Unlock()
	if len(c.answers) >= maxAnswers {
		clear(c.answers)
	}
	c.answers[string(key)] = known
	return known
}

// answerKey holds everything that an answer depends on.
type answerKey []byte

func (k answerKey) addInt(n int) answerKey { return binary.LittleEndian.AppendUint64(k, uint64(n)) }

func (k answerKey) addFloat(f float64) answerKey {
	return binary.LittleEndian.AppendUint64(k, math.Float64bits(f))
}
