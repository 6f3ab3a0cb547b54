package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// server is an API server of the test's own, as far as a watch asks it.
func server(t *testing.T, answer http.HandlerFunc) []string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return []string{"--kubeconfig", kubeconfig(t, s.URL)}
}

func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	return write(t, "kubeconfig", fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
clusters: [{name: a, cluster: {server: %q}}], users: [{name: a, user: {}}]}`, url))
}

// without answers discovery as a cluster without Knee does.
func without(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/api":
		fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
	case "/apis":
		fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"not there"}`)
	}
}

// A cluster without Knee will not have the campaign however long it is asked.
func TestWatchWithoutKnee(t *testing.T) {
	r := knee(t, "", append([]string{"watch", "x"}, server(t, without)...)...)
	if r.code != exitFailed || !strings.Contains(r.err, "BenchmarkCampaign") {
		t.Errorf("exit code %d, %q", r.code, r.err)
	}
}

// A first answer that does not come in time ends the watch, and why is said meanwhile.
func TestWatchOfNoServer(t *testing.T) {
	var out, errs bytes.Buffer
	p := newPlugin(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs})
	p.patience = 400 * time.Millisecond
	path := kubeconfig(t, "http://127.0.0.1:1")
	p.flags.KubeConfig = &path
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err := p.watch(ctx, "x")
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("%v, %v; want the error that the first answer did not come for", err, ctx.Err())
	}
	if n := strings.Count(errs.String(), "connection refused"); n != 1 {
		t.Errorf("the same error is said %d times: %q", n, errs.String())
	}
}

// What keeps the watch from asking is said once, and again when it is another.
func TestWatchSaysWhatIsWrong(t *testing.T) {
	asked := 0
	flags := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch path := r.URL.Path; {
		case path == "/apis":
			fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"knee.dev","versions":[{"groupVersion":"knee.dev/v1alpha1","version":"v1alpha1"}],"preferredVersion":{"groupVersion":"knee.dev/v1alpha1","version":"v1alpha1"}}]}`)
		case path == "/apis/knee.dev/v1alpha1":
			fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"knee.dev/v1alpha1","resources":[{"name":"benchmarkcampaigns","namespaced":true,"kind":"BenchmarkCampaign","verbs":["get"]}]}`)
		case strings.HasSuffix(path, "/benchmarkcampaigns/x"):
			asked++
			code, reason := http.StatusInternalServerError, "first trouble"
			switch {
			case asked > 4:
				code, reason = http.StatusForbidden, "you may not"
			case asked > 2:
				reason = "second trouble"
			}
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":%q}`,
				map[int]string{500: "InternalError", 403: "Forbidden"}[code], code, reason)
		default:
			without(w, r)
		}
	})
	r := knee(t, "", append([]string{"watch", "x"}, flags...)...)
	if r.code != exitFailed || !strings.Contains(r.err, "error: you may not") {
		t.Errorf("exit code %d, %q", r.code, r.err)
	}
	for _, trouble := range []string{"first trouble", "second trouble"} {
		if n := strings.Count(r.err, trouble); n != 1 {
			t.Errorf("%s is said %d times: %q", trouble, n, r.err)
		}
	}
}
