package chaos_test

import (
	"context"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
)

// witness remembers every Job and every loader pod that ever existed. It misses none during an outage of the API
// server: its watch starts again with a list, and no Job can be created while the server is down.
type witness struct {
	mu   sync.Mutex
	jobs map[string]map[types.UID]bool    // UIDs of Jobs by the attempt's JSON
	pods map[types.UID]map[types.UID]bool // UIDs of pods by the UID of their Job
	ran  map[types.UID]bool               // pods whose container started
}

func (c *cluster) watch(ctx context.Context, t *testing.T, ns string) *witness {
	t.Helper()
	config := rest.CopyConfig(c.config)
	config.Timeout = 0 // a watch is a request without end
	all, err := cache.New(config, cache.Options{Scheme: scheme.New(), DefaultNamespaces: map[string]cache.Config{ns: {}}})
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{jobs: map[string]map[types.UID]bool{}, pods: map[types.UID]map[types.UID]bool{}, ran: map[types.UID]bool{}}
	for _, kind := range []client.Object{&batchv1.Job{}, &corev1.Pod{}} {
		informer, err := all.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			t.Fatal(err)
		}
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: w.note, UpdateFunc: func(_, o any) { w.note(o) },
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		if err := all.Start(ctx); err != nil {
			t.Errorf("the watch of Jobs and pods: %v", err)
		}
	}()
	if !all.WaitForCacheSync(ctx) {
		t.Fatal("the watch of Jobs and pods did not begin")
	}
	return w
}

func (w *witness) note(o any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch o := o.(type) {
	case *batchv1.Job:
		add(w.jobs, o.Annotations[resources.AnnotationTrial], o.UID)
	case *corev1.Pod:
		owner := metav1.GetControllerOf(o)
		if owner == nil || owner.Kind != "Job" {
			return
		}
		add(w.pods, owner.UID, o.UID)
		for _, s := range o.Status.ContainerStatuses {
			if s.Name == resources.ContainerTrial && (s.State.Running != nil || s.State.Terminated != nil) {
				w.ran[o.UID] = true
			}
		}
	}
}

func add[K comparable](to map[K]map[types.UID]bool, key K, uid types.UID) {
	if to[key] == nil {
		to[key] = map[types.UID]bool{}
	}
	to[key][uid] = true
}

// check checks that each attempt had one Job, each Job one pod, and each Job one record.
func (w *witness) check(t *testing.T, records []record.Record) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for attempt, uids := range w.jobs {
		if len(uids) != 1 {
			t.Errorf("attempt %s had %d Jobs", attempt, len(uids))
		}
	}
	for job, pods := range w.pods {
		if len(pods) != 1 {
			t.Errorf("Job %s had %d pods", job, len(pods))
		}
	}
	seen := map[record.Attempt]bool{}
	for _, r := range records {
		if seen[r.Attempt] {
			t.Errorf("attempt %+v has two records", r.Attempt)
		}
		seen[r.Attempt] = true
	}
	if len(w.jobs) != len(records) {
		t.Errorf("%d Jobs were seen, and %d records", len(w.jobs), len(records))
	}
	t.Logf("%d Jobs, each of an attempt of its own; %d of their pods ran", len(w.jobs), len(w.ran))
}
