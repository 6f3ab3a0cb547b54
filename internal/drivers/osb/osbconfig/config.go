// Package osbconfig holds the configuration that the manager writes for the driver "osb" and that the agent reads.
package osbconfig

import "path/filepath"

// Name is the name of the driver. It is also the name of its field in spec.workload.
const Name = "osb"

// Config is the configuration of a load by opensearch-benchmark.
type Config struct {
	Workload      string            `json:"workload"`                // name of the workload, or of its folder in Path
	Path          string            `json:"path,omitempty"`          // folder that contains the workload's folder; read-only
	Flat          bool              `json:"flat,omitempty"`          // Path is a ConfigMap without folders: "__" in a file name means "/"
	GitURL        string            `json:"gitURL,omitempty"`        //
	GitRef        string            `json:"gitRef,omitempty"`        //
	TestProcedure string            `json:"testProcedure,omitempty"` // empty: the workload's default
	Params        map[string]string `json:"params"`                  // all parameters, including clients, shards, replicas and refresh interval
	SetupTasks    []string          `json:"setupTasks,omitempty"`    // used if there is no index body file
	IngestTasks   []string          `json:"ingestTasks"`
	SearchTasks   []string          `json:"searchTasks,omitempty"` // run after the ingest; empty: no search

	TargetThroughputParam string `json:"targetThroughputParam,omitempty"` // parameter for the target rate of an OpenLoop trial, in bulk requests per second
	ClientsParam          string `json:"clientsParam,omitempty"`          // parameter for the number of clients of one loader pod; required for several loader pods
}

// CommonOperations is a folder next to the official workloads. Their test procedures include files from this folder.
const CommonOperations = "common_operations"

// Source returns the folder that contains the workload's files.
func (c Config) Source() string {
	if c.Flat {
		return c.Path
	}
	return filepath.Join(c.Path, c.Workload)
}

// Common returns the path at which the folder CommonOperations may be. It returns "" if there cannot be such a folder.
func (c Config) Common() string {
	if c.Flat {
		return ""
	}
	return filepath.Join(c.Path, CommonOperations)
}
