// Package toydriver is a driver for tests: the manager's side, the agent's side and the configuration between them. Its
// load makes no calls, it only counts. A real driver of Knee has one package for each of these three parts, because the
// agent must not import Kubernetes packages.
package toydriver

// Name is the driver's name.
const Name = "toy"

// Unit is the unit of the driver's throughput.
const Unit = "toys/s"

// Config is the configuration that the manager's side writes and the agent's side reads.
type Config struct {
	CallsPerClient int64 `json:"callsPerClient"`
}
