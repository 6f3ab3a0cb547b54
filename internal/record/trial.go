package record

import "encoding/json"

// Phase is the part of a campaign that a trial belongs to.
type Phase string

// The phases. The figures of a Warmup trial are discarded. The load of an OpenLoop trial has a fixed rate, so only latency is a
// result. An Anchor trial repeats the first point of a cell's sweep at the end of the sweep. It shows only a drift: no point and no
// noise includes it.
const (
	Warmup   Phase = "Warmup"
	Sweep    Phase = "Sweep"
	Final    Phase = "Final"
	OpenLoop Phase = "OpenLoop"
	Anchor   Phase = "Anchor"
)

// Trial identifies a trial. Two trials that differ in any field are different measurements.
type Trial struct {
	Campaign   string `json:"campaign"`   // UID of the campaign
	Cell       string `json:"cell"`       // hash of the cell's identity
	Variant    string `json:"variant"`    // for users
	Topology   string `json:"topology"`   // for users
	Phase      Phase  `json:"phase"`      // Warmup, Sweep, Anchor, Final or OpenLoop
	Clients    int32  `json:"clients"`    // client count
	Repetition int32  `json:"repetition"` // 1-based, within the placement; for a Warmup, the number of the Warmup within the cell

	Placement           Placement `json:"placement,omitzero"`            // 1-based; a sweep runs on the first placement
	TargetDocsPerSecond int64     `json:"targetDocsPerSecond,omitempty"` // rate of the load of an OpenLoop trial; 0 for other phases

	// RerunToken is the token of spec.sweep.rerun that requested this trial in place of an earlier trial.
	RerunToken string `json:"again,omitempty"`
}

// Placement is the number of a set of new nodes for a cell, counted from 1. JSON omits the first placement, as in early records,
// when every cell had only one placement.
type Placement int32

// IsZero reports whether JSON omits the placement.
func (p Placement) IsZero() bool { return p <= 1 }

// Attempt identifies one attempt at a trial. If an attempt gives no valid measurement, the trial may have
// further attempts.
type Attempt struct {
	Trial
	N int32 `json:"attempt"` // 1-based
}

// UnmarshalJSON reads an attempt. A missing placement means the first placement.
func (a *Attempt) UnmarshalJSON(data []byte) error {
	type fields Attempt
	err := json.Unmarshal(data, (*fields)(a))
	a.Placement = max(a.Placement, 1)
	return err
}
