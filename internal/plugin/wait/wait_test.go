package wait

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/scheme"
)

// campaignWith returns a campaign in its second generation with a condition Ready that observed the given generation.
func campaignWith(name string, ready metav1.ConditionStatus, reason string, observed int64, done int) v1alpha1.BenchmarkCampaign {
	c := v1alpha1.BenchmarkCampaign{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID("uid-" + name), Generation: 2, ResourceVersion: "1"}}
	c.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("BenchmarkCampaign"))
	c.Status.TrialCounts = v1alpha1.NewTrialCounts(10, done, 0)
	c.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: ready, Reason: reason, Message: "message of " + reason, ObservedGeneration: observed}}
	return c
}

func running(name string, done int) v1alpha1.BenchmarkCampaign {
	return campaignWith(name, metav1.ConditionUnknown, v1alpha1.ReasonProgressing, 2, done)
}

func finished(name string) v1alpha1.BenchmarkCampaign {
	return campaignWith(name, metav1.ConditionTrue, v1alpha1.ReasonFinished, 2, 10)
}

func stalled(name string) v1alpha1.BenchmarkCampaign {
	return campaignWith(name, metav1.ConditionFalse, v1alpha1.ReasonUnschedulable, 2, 3)
}

// event is an event of a watch. Without a campaign it says that the resource version is too old.
type event struct {
	kind     string
	campaign *v1alpha1.BenchmarkCampaign
}

// server is a fake API server. It answers each list and each watch with the next entry. It ends a watch after its events, except after the
// event that the resource version is too old. The watch after the last entry has no event and does not end.
type server struct {
	t       *testing.T
	lists   [][]v1alpha1.BenchmarkCampaign
	watches [][]event

	mu            sync.Mutex
	listed, began int
	selectors     []string // field selectors of the lists
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	encode := func(v any) {
		if err := json.NewEncoder(w).Encode(v); err != nil {
			s.t.Error(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch query := r.URL.Query(); {
	case r.URL.Path == "/api":
		encode(metav1.APIVersions{Versions: []string{"v1"}})
	case r.URL.Path == "/apis":
		version := metav1.GroupVersionForDiscovery{GroupVersion: "knee.dev/v1alpha1", Version: "v1alpha1"}
		encode(metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: "knee.dev", Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version}}})
	case r.URL.Path == "/apis/knee.dev/v1alpha1":
		encode(metav1.APIResourceList{GroupVersion: "knee.dev/v1alpha1", APIResources: []metav1.APIResource{{Name: "benchmarkcampaigns", Namespaced: true, Kind: "BenchmarkCampaign"}}})
	case !strings.HasSuffix(r.URL.Path, "/benchmarkcampaigns"):
		w.WriteHeader(http.StatusNotFound)
	case query.Get("watch") == "":
		s.selectors = append(s.selectors, query.Get("fieldSelector"))
		list := v1alpha1.BenchmarkCampaignList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: s.lists[min(s.listed, len(s.lists)-1)]}
		list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("BenchmarkCampaignList"))
		s.listed++
		encode(list)
	default:
		open := s.began >= len(s.watches)
		if !open {
			for _, e := range s.watches[s.began] {
				var object any = e.campaign
				if e.campaign == nil {
					open = true
					object = metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: 410, Reason: metav1.StatusReasonExpired}
				}
				encode(map[string]any{"type": e.kind, "object": object})
			}
		}
		s.began++
		if open {
			w.(http.Flusher).Flush()
			s.mu.Unlock()
			<-r.Context().Done()
			s.mu.Lock()
		}
	}
}

// newTestWaiter returns a waiter for an API server, and the text that it prints.
func newTestWaiter(t *testing.T, answer http.Handler, timeout time.Duration) (*waiter, *bytes.Buffer) {
	t.Helper()
	fake := httptest.NewServer(answer)
	t.Cleanup(fake.Close)
	c, err := client.NewWithWatch(&rest.Config{Host: fake.URL}, client.Options{Scheme: scheme.New()})
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	return newWaiter(genericiooptions.IOStreams{ErrOut: &printed}, c, "default", timeout), &printed
}

func TestWait(t *testing.T) {
	of := func(c v1alpha1.BenchmarkCampaign) *v1alpha1.BenchmarkCampaign { return &c }
	list := func(c ...v1alpha1.BenchmarkCampaign) []v1alpha1.BenchmarkCampaign { return c }
	recreated := running("a", 0)
	recreated.UID = "another"
	terminating := finished("a")
	terminating.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	for name, tc := range map[string]struct {
		server   *server
		timeout  time.Duration
		names    []string // default: a
		code     int
		messages []string // of the error
		printed  []string
		finished int
	}{
		"finished before": {server: &server{lists: [][]v1alpha1.BenchmarkCampaign{list(finished("a"))}}, finished: 1},
		"finishes during the watch": {
			server:   &server{lists: [][]v1alpha1.BenchmarkCampaign{list(running("a", 1))}, watches: [][]event{{{"MODIFIED", of(running("a", 5))}, {"MODIFIED", of(running("a", 5))}, {"MODIFIED", of(finished("a"))}}}},
			printed:  []string{"a  [##..................] 1 of 10 trials", "a  [##########..........] 5 of 10 trials", "a  [####################] 10 of 10 trials"},
			finished: 1,
		},
		"finishes while the watch is expired": {
			server:   &server{lists: [][]v1alpha1.BenchmarkCampaign{list(running("a", 1)), list(finished("a"))}, watches: [][]event{{{"ERROR", nil}}}},
			finished: 1,
		},
		"finishes after the API server has ended two watches": {
			server:   &server{lists: [][]v1alpha1.BenchmarkCampaign{list(running("a", 1))}, watches: [][]event{{}, {}, {{"MODIFIED", of(finished("a"))}}}},
			finished: 1,
		},
		"a status of the spec before an edit does not count": {
			server:   &server{lists: [][]v1alpha1.BenchmarkCampaign{list(campaignWith("a", metav1.ConditionTrue, v1alpha1.ReasonFinished, 1, 10))}, watches: [][]event{{{"MODIFIED", of(stalled("a"))}}}},
			code:     terminal.ExitStalled,
			messages: []string{"a person must act on campaign default/a: Unschedulable: message of Unschedulable"},
		},
		"stalled": {
			server: &server{lists: [][]v1alpha1.BenchmarkCampaign{list(stalled("a"))}}, code: terminal.ExitStalled,
			messages: []string{"docs/troubleshooting.md#unschedulable"},
		},
		"timeout": {
			server: &server{lists: [][]v1alpha1.BenchmarkCampaign{list(running("a", 1))}}, timeout: 50 * time.Millisecond, code: terminal.ExitNotFinished,
			messages: []string{"campaign default/a is not finished after 50ms (--timeout): [##..................] 1 of 10 trials"},
		},
		"does not exist": {
			server: &server{lists: [][]v1alpha1.BenchmarkCampaign{list()}}, code: terminal.ExitNotFound, messages: []string{"campaign default/a does not exist"},
		},
		"deleted during the watch": {
			server: &server{lists: [][]v1alpha1.BenchmarkCampaign{list(running("a", 1))}, watches: [][]event{{{"DELETED", of(running("a", 1))}}}},
			code:   terminal.ExitNotFound, messages: []string{"campaign default/a was deleted"},
		},
		"deleted between two watches": {
			server: &server{lists: [][]v1alpha1.BenchmarkCampaign{list(running("a", 1)), list()}, watches: [][]event{{}}},
			code:   terminal.ExitNotFound, messages: []string{"campaign default/a was deleted"},
		},
		"deleted and created again": {
			server: &server{lists: [][]v1alpha1.BenchmarkCampaign{list(running("a", 1)), list(recreated)}, watches: [][]event{{}}},
			code:   terminal.ExitNotFound, messages: []string{"campaign default/a was deleted"},
		},
		"is being deleted": {
			server: &server{lists: [][]v1alpha1.BenchmarkCampaign{list(terminating)}}, code: terminal.ExitNotFound,
		},
		"of several campaigns the highest code": {
			server: &server{lists: [][]v1alpha1.BenchmarkCampaign{list(finished("c"), stalled("b"), running("other", 1))}},
			names:  []string{"a", "b", "c"}, code: terminal.ExitNotFound, finished: 1,
			messages: []string{"campaign default/a does not exist", "campaign default/b: Unschedulable"},
		},
		"of several campaigns one is late": {
			server: &server{lists: [][]v1alpha1.BenchmarkCampaign{list(finished("c"), running("b", 1), running("other", 1))}},
			names:  []string{"b", "c"}, timeout: 50 * time.Millisecond, code: terminal.ExitNotFinished, finished: 1,
			messages: []string{"campaign default/b is not finished"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tc.server
			s.t = t
			w, printed := newTestWaiter(t, s, tc.timeout)
			ctx, cancel := w.limit(t.Context())
			defer cancel()
			if tc.names == nil {
				tc.names = []string{"a"}
			}
			done, err := w.wait(ctx, tc.names)
			code := 0
			if own := (*terminal.ExitError)(nil); errors.As(err, &own) {
				code = own.Code
			}
			if code != tc.code || (err != nil) != (tc.code != 0) || len(done) != tc.finished {
				t.Errorf("exit code %d, %d finished, error %v; want %d, %d finished", code, len(done), err, tc.code, tc.finished)
			}
			for _, want := range tc.messages {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v does not contain %q", err, want)
				}
			}
			for _, want := range tc.printed {
				if n := strings.Count(printed.String(), want); n != 1 {
					t.Errorf("%q is printed %d times:\n%s", want, n, printed)
				}
			}
			if strings.Contains(printed.String(), "other") || strings.Contains(printed.String(), "trying again") {
				t.Errorf("printed %s", printed)
			}
			want := ""
			if len(tc.names) == 1 {
				want = "metadata.name=" + tc.names[0]
			}
			if len(s.selectors) == 0 || s.selectors[0] != want {
				t.Errorf("the lists have the field selectors %q, want first %q", s.selectors, want)
			}
		})
	}
}

// TestWait_interrupted_endsAtOnce checks that the end of the context ends the waiter although the API server does not answer.
func TestWait_interrupted_endsAtOnce(t *testing.T) {
	for _, silent := range []string{"/api", "/apis/knee.dev/v1alpha1", "/benchmarkcampaigns"} {
		t.Run(silent, func(t *testing.T) {
			asked, release := make(chan struct{}, 10), make(chan struct{})
			defer close(release)
			rest := &server{t: t}
			w, printed := newTestWaiter(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, silent) {
					rest.ServeHTTP(w, r)
					return
				}
				asked <- struct{}{}
				<-release
			}), 0)
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				<-asked
				cancel(errors.New("interrupt signal received"))
			}()
			_, err := w.wait(ctx, []string{"a"})
			if err == nil || err.Error() != "interrupted: interrupt signal received" || printed.Len() > 0 {
				t.Errorf("error %v, printed %s", err, printed)
			}
		})
	}
}

// TestWait_forbidden_fails checks that the waiter does not repeat a request that is refused.
func TestWait_forbidden_fails(t *testing.T) {
	rest := &server{t: t}
	w, _ := newTestWaiter(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/benchmarkcampaigns") {
			rest.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"you may not"}`)
	}), 0)
	if _, err := w.wait(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), "you may not") {
		t.Errorf("error %v", err)
	}
}
