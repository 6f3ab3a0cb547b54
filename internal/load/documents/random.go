package documents

import (
	"math"
	"math/rand/v2"
	"strings"
)

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood 2014). It is a bijection, and its results look random.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

const hexDigits = "0123456789abcdef"

// hex16 writes a number as 16 hexadecimal digits.
func hex16(into []byte, x uint64) {
	_ = into[15]
	for i := 15; i >= 0; i-- {
		into[i] = hexDigits[x&0xf]
		x >>= 4
	}
}

// hexes returns n random hexadecimal digits.
func hexes(r *rand.Rand, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = hexDigits[r.IntN(len(hexDigits))]
	}
	return string(out)
}

// zipf returns a random number from 0 to n-1. Small numbers are much more frequent than large ones: the probability of rank k
// is about proportional to 1/k (log-uniform).
func zipf(r *rand.Rand, n int) int {
	return min(n-1, int(math.Exp(r.Float64()*math.Log(float64(n+1))))-1)
}

// words lists words that are typical of log messages.
var words = strings.Fields(`request response connection timeout retry cache miss hit user session order item stock price
	currency payment authorized declined refund shipment address label queue message consumed published offset partition
	database query rows lock transaction committed rolled back pool exhausted acquired released scheduled job started
	finished skipped failed upstream downstream latency budget exceeded circuit open closed half feature flag enabled
	disabled config reloaded token expired renewed issued validated schema version migrated index search result page
	filter sort batch flush bytes written read stream closed opened worker idle busy thread limit quota throttled`)

// randomSentence returns n random words.
func randomSentence(r *rand.Rand, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = words[zipf(r, len(words))]
	}
	return strings.Join(out, " ")
}
