package v1alpha1_test

import (
	"encoding/json"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// TestStatus_ofEarlierVersion_isReadable checks that a field of the status keeps its type. The manager reads the statuses that an
// earlier version stored. A status that cannot be decoded stops the manager's cache for all campaigns.
func TestStatus_ofEarlierVersion_isReadable(t *testing.T) {
	const stored = `{"progress": "7/10", "cells": [{"variant": "intel", "topology": "6p0r", "phase": "Sweep", "trials": "7/10",
		"kneeClients": 12, "kneeDocsPerSecond": 239130, "kneeStabilityPercent": 90, "peakClients": 48, "peakDocsPerSecond": 243044,
		"finalDocsPerSecond": 236273, "notMeasured": ["24 clients (verdict Errored): DriverFailed"], "failedClients": [24]}]}`
	var status v1alpha1.BenchmarkCampaignStatus
	if err := json.Unmarshal([]byte(stored), &status); err != nil {
		t.Fatal(err)
	}
	if status.Progress != "7/10" || len(status.Cells) != 1 || status.Cells[0].Variant != "intel" {
		t.Errorf("status %+v", status)
	}
}
