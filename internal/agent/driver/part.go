package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Part identifies one loader pod among the loader pods of a trial.
type Part struct {
	Index int32 // number of this pod, from 0
	Of    int32 // number of loader pods; 0 means 1
}

// Clients returns how many of the trial's clients this pod runs. The clients are divided evenly; pods with a low index run
// one client more if there is a remainder.
func (p Part) Clients(all int32) int32 {
	of := max(1, p.Of)
	own := all / of
	if p.Index < all%of {
		own++
	}
	return own
}

// FirstClient returns the 0-based number of this pod's first client among the clients of all pods.
func (p Part) FirstClient(all int32) int32 {
	of := max(1, p.Of)
	return all/of*p.Index + min(p.Index, all%of)
}

// ShareOf returns the clients of this pod as a share of all clients, 0 to 1.
func (p Part) ShareOf(clients int32) float64 {
	if p.Of <= 1 {
		return 1
	}
	return float64(p.Clients(clients)) / float64(clients)
}

// DecodeShares decodes the shares of all pods.
func DecodeShares[S any](shares []json.RawMessage) ([]S, error) {
	out := make([]S, len(shares))
	for i, data := range shares {
		if err := json.Unmarshal(data, &out[i]); err != nil {
			return nil, fmt.Errorf("cannot decode the result of loader pod %d: %w", i, err)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no loader pod delivered a result")
	}
	return out, nil
}

// Seconds converts a number of seconds to a duration.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
