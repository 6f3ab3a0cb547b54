package watch

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/knee-bench/knee/internal/plugin/source"
)

// server starts a fake API server that answers with the given handler, and returns its URL.
func server(t *testing.T, answer http.HandlerFunc) (url string) {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
clusters: [{name: a, cluster: {server: %q}}], users: [{name: a, user: {}}]}`, url)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// watchServer watches the campaign x on an API server. It returns the text on standard error, and the error of the watch.
func watchServer(t *testing.T, url string, patience time.Duration) (printed string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	w := watcher{
		streams:  genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs},
		reader:   source.Reader{Flags: genericclioptions.NewConfigFlags(true)},
		patience: patience,
	}
	*w.reader.Flags.KubeConfig = kubeconfig(t, url)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = w.watch(ctx, "x")
	if ctx.Err() != nil {
		t.Fatalf("the watch does not end by itself: %v", err)
	}
	return errs.String(), err
}

// without is a request handler that answers discovery requests like the API server of a Kubernetes cluster without
// Knee.
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

// TestWatch_clusterWithoutKnee_fails checks that the watch of a cluster without Knee ends at once: a retry cannot find the
// campaign.
func TestWatch_clusterWithoutKnee_fails(t *testing.T) {
	_, err := watchServer(t, server(t, without), time.Minute)
	if err == nil || !strings.Contains(err.Error(), "BenchmarkCampaign") {
		t.Errorf("error %v", err)
	}
}

// TestWatch_noServer_failsAfterTimeout checks that the watch ends if the first answer does not come in time, and that it prints the
// reason once while it waits.
func TestWatch_noServer_failsAfterTimeout(t *testing.T) {
	printed, err := watchServer(t, "http://127.0.0.1:1", 400*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("%v; want the error that the first answer did not come for", err)
	}
	if n := strings.Count(printed, "connection refused"); n != 1 {
		t.Errorf("the same error is said %d times: %q", n, printed)
	}
}

// TestWatch_repeatedError_printedOnce checks that the watch prints an error once, and again only if the error changes.
func TestWatch_repeatedError_printedOnce(t *testing.T) {
	asked := 0
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
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
	printed, err := watchServer(t, url, time.Minute)
	if err == nil || !strings.HasPrefix(err.Error(), "you may not") {
		t.Fatalf("error %v", err)
	}
	printed += err.Error()
	for _, trouble := range []string{"first trouble", "second trouble"} {
		if n := strings.Count(printed, trouble); n != 1 {
			t.Errorf("%s is said %d times: %q", trouble, n, printed)
		}
	}
}
