package sweep

import (
	"encoding/binary"
	"math"
	"sync"
)

// answerCache keeps answers of adaptive sweeps, because each assessment replays all sweeps from their first trial. An answer depends
// only on the key.
type answerCache struct {
	guard   sync.Mutex
	answers map[string]int32
}

var adaptiveAnswers = answerCache{answers: map[string]int32{}}

// maxAnswers limits the number of answers. An answer has less than 5 KB.
const maxAnswers = 4096

// find returns the known answer, or the answer of the function.
func (c *answerCache) find(tried []triedCount, percentOfPeak float64, answer func([]triedCount, float64) int32) int32 {
	key := binary.LittleEndian.AppendUint64(nil, math.Float64bits(percentOfPeak))
	for _, t := range tried {
		gated := uint32(0)
		if t.gated {
			gated = 1
		}
		for _, n := range []uint32{uint32(t.clients), uint32(t.trials), gated, uint32(len(t.logs))} {
			key = binary.LittleEndian.AppendUint32(key, n)
		}
		for _, v := range t.logs {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v))
		}
	}
	c.guard.Lock()
	known, ok := c.answers[string(key)]
	c.guard.Unlock()
	if ok {
		return known
	}
	known = answer(tried, percentOfPeak)
	c.guard.Lock()
	defer c.guard.Unlock()
	if len(c.answers) >= maxAnswers {
		clear(c.answers)
	}
	c.answers[string(key)] = known
	return known
}
