// Package crd holds the CustomResourceDefinition of a campaign. A program can use the definition to validate a campaign against the
// schema and the rules, and to set defaults, without an API server.
package crd

import _ "embed" // for go:embed

// BenchmarkCampaigns is the generated manifest.
//
//go:embed bases/knee.dev_benchmarkcampaigns.yaml
var BenchmarkCampaigns []byte
