package main

import (
	"flag"
	"io"
	"strings"
	"testing"
)

func TestFlags(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string // part of the error; empty: no error
	}{
		"none":                         {nil, ""},
		"a registry's port":            {[]string{"--opensearch-image=localhost:5000/opensearch"}, ""},
		"an agent by digest":           {[]string{"--agent-image=r/knee@sha256:" + strings.Repeat("0", 64)}, ""},
		"a tag":                        {[]string{"--opensearch-image=localhost:5000/opensearch:3.1.0"}, "--opensearch-image=localhost:5000/opensearch:3.1.0: the image must have no tag and no digest"},
		"a digest":                     {[]string{"--osb-image=osb@sha256:" + strings.Repeat("0", 64)}, "the image must have no tag and no digest"},
		"a flag that there is not":     {[]string{"--privileged"}, "not defined"},
		"users that OpenShift chooses": {[]string{"--pod-user-ids=false"}, ""},
		"policies that are not made":   {[]string{"--network-policies=false"}, ""},
	} {
		set := flag.NewFlagSet("manager", flag.ContinueOnError)
		set.SetOutput(io.Discard)
		f, err := parse(set, tc.args)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
		if (name == "users that OpenShift chooses") != f.options.NoUserIDs {
			t.Errorf("%s: NoUserIDs is %v", name, f.options.NoUserIDs)
		}
		if name == "none" && (f.options.NoPolicies || f.options.AllowSysctlInit || f.metricsAddress != "0" || f.http2) {
			t.Errorf("%s: policies are made, nothing is privileged, no metrics are served: %+v", name, f)
		}
		if name == "policies that are not made" && !f.options.NoPolicies {
			t.Errorf("%s: they are", name)
		}
	}
}
