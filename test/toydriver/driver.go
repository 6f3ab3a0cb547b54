package toydriver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/record"
)

// Factory is the toy's entry in the agent's registry.
var Factory = driver.Factory{Name: Name, New: NewDriver}

// Driver is the agent's side of the toy: it counts calls.
type Driver struct {
	session *driver.Session
	config  Config
}

// share is the result of one loader pod.
type share struct {
	Calls   int64   `json:"calls"`
	Seconds float64 `json:"seconds"`
}

// NewDriver makes a driver for one attempt.
func NewDriver(s *driver.Session, raw json.RawMessage) (driver.Driver, error) {
	config, err := driver.Decode[Config](Name, raw)
	if err != nil {
		return nil, err
	}
	return &Driver{session: s, config: config}, nil
}

// Kind implements driver.Driver.
func (*Driver) Kind() driver.Kind { return driver.NoCluster }

// About implements driver.Driver.
func (*Driver) About() record.Driver { return record.Driver{Name: Name} }

// Prepare returns an error if the load would have no calls.
func (d *Driver) Prepare(context.Context) error {
	if d.config.CallsPerClient < 1 {
		return record.Errorf(record.ReasonDriverFailed, "the toy has %d calls per client: at least 1 is needed", d.config.CallsPerClient)
	}
	return nil
}

// Load counts the calls of this pod's clients.
func (d *Driver) Load(ctx context.Context, in driver.LoadInput) (json.RawMessage, error) {
	span, err := in.Start(ctx)
	if err != nil {
		return nil, err
	}
	out := share{Calls: d.config.CallsPerClient * int64(d.session.Part.Clients(d.session.Config.Attempt.Clients))}
	out.Seconds = max(time.Since(span.Began), time.Millisecond).Seconds()
	return json.Marshal(out)
}

// Outcome adds the calls of all loader pods.
func (d *Driver) Outcome(shares []json.RawMessage) (driver.Outcome, error) {
	all, err := driver.DecodeShares[share](shares)
	if err != nil {
		return driver.Outcome{}, err
	}
	load := &record.Load{Unit: Unit}
	for _, s := range all {
		load.Operations += s.Calls
		load.Seconds = max(load.Seconds, s.Seconds)
	}
	load.Rate = float64(load.Operations) / load.Seconds
	return driver.Outcome{Load: load}, nil
}

// Artifacts implements driver.Driver.
func (*Driver) Artifacts() []driver.Artifact { return nil }
