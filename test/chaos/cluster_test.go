package chaos_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/embedded"
)

// cluster is the embedded cluster.
type cluster struct {
	embedded.Cluster
	client.Client
	config *rest.Config
	raw    rest.Interface // for requests to pods
}

func connect(t *testing.T) *cluster {
	here, err := embedded.Find()
	if err != nil {
		t.Fatal(err)
	}
	klog.SetLogger(logr.Discard()) // the client libraries log each outage of the API server
	log.SetLogger(logr.Discard())
	c := &cluster{Cluster: here}
	if c.config, err = clientcmd.BuildConfigFromFlags("", here.Kubeconfig()); err != nil {
		t.Fatalf("the embedded cluster: run `make test-chaos`: %v", err)
	}
	c.config.Timeout = 15 * time.Second // per request: an API server that was killed never answers
	if c.Client, err = client.New(c.config, client.Options{Scheme: scheme.New()}); err != nil {
		t.Fatal(err)
	}
	clients, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	c.raw = clients.CoreV1().RESTClient()
	c.deleteOld(t)
	return c
}

// namespaces is the prefix of the names of this test's namespaces and volumes.
const namespaces = "knee-chaos-"

// deleteOld deletes the namespaces and volumes of earlier runs that failed: their campaigns would compete for the node.
func (c *cluster) deleteOld(t *testing.T) {
	t.Helper()
	for _, list := range []client.ObjectList{&corev1.NamespaceList{}, &corev1.PersistentVolumeList{}} {
		must(t.Context(), t, "delete what earlier runs left", func(ctx context.Context) error {
			if err := c.List(ctx, list); err != nil {
				return err
			}
			return meta.EachListItem(list, func(o runtime.Object) error {
				old := o.(client.Object)
				if !strings.HasPrefix(old.GetName(), namespaces) {
					return nil
				}
				return client.IgnoreNotFound(c.Delete(ctx, old))
			})
		})
	}
}

// until calls the function ask again and again, for at most 5 minutes, until ask returns no error. During this time the
// supervisor restarts an API server that was killed.
func until(ctx context.Context, what string, ask func(context.Context) error) error {
	const enough, again = 5 * time.Minute, 500 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w (last: %w)", what, ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// must calls the function until, and ends the test if it returns an error.
func must(ctx context.Context, t *testing.T, what string, ask func(context.Context) error) {
	t.Helper()
	if err := until(ctx, what, ask); err != nil {
		t.Fatal(err)
	}
}

// namespace makes a namespace that enforces the restricted Pod Security Standard. It is deleted at the end of the test
// unless the test failed.
func (c *cluster) namespace(ctx context.Context, t *testing.T) string {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   fmt.Sprintf(namespaces+"%d", time.Now().UnixNano()),
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	must(ctx, t, "make the namespace", func(ctx context.Context) error {
		return ignoreExists(c.Create(ctx, ns.DeepCopy()))
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("namespace %s stays for a look", ns.Name)
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.Delete(ctx, ns); err != nil {
			t.Errorf("delete the namespace: %v", err)
		}
	})
	return ns.Name
}

// ignoreExists ignores AlreadyExists errors: the API server may have executed an earlier request that timed out.
func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
