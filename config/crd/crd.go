// Package crd holds the CustomResourceDefinition of a campaign, so that a program can hold a campaign against its
// schema and rules, and fill its defaults in, without an API server.
package crd

import _ "embed" // for the manifest

// BenchmarkCampaigns is the generated manifest.
//
//go:embed bases/knee.dev_benchmarkcampaigns.yaml
var BenchmarkCampaigns []byte
