package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

func dialable(ctx context.Context, network, address string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	return conn.Close()
}

func etcdHealthy(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, etcdURL+"/health", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd's health is %s", response.Status)
	}
	return nil
}

func apiReady(ctx context.Context, client kubernetes.Interface) error {
	return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

func nodeExists(ctx context.Context, client kubernetes.Interface, name string) error {
	_, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	return err
}

// nodeReady checks that the kubelet has reported the node as ready since this start of the cluster, and that the node
// has no taint that keeps pods away. The API server may still have a report of an earlier start, which does not count.
func nodeReady(ctx context.Context, client kubernetes.Interface, name string, since time.Time) error {
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	return checkNode(node, since)
}

func checkNode(node *corev1.Node, since time.Time) error {
	// Times in the API are whole seconds.
	since = since.Truncate(time.Second)
	for _, condition := range node.Status.Conditions {
		if condition.Type != corev1.NodeReady {
			continue
		}
		if condition.LastHeartbeatTime.Time.Before(since) {
			return fmt.Errorf("node %s: the kubelet has not reported yet", node.Name)
		}
		if condition.Status != corev1.ConditionTrue {
			return fmt.Errorf("node %s is not ready: %s", node.Name, condition.Message)
		}
		for _, taint := range node.Spec.Taints {
			if taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable {
				return fmt.Errorf("node %s still has the taint %s", node.Name, taint.Key)
			}
		}
		return nil
	}
	return fmt.Errorf("node %s has no Ready condition yet", node.Name)
}

// serviceAccountExists checks that the default service account exists. Without it the API server refuses pods.
func serviceAccountExists(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	return err
}

// dnsAnswers sends a query to the cluster's DNS server, as a pod does.
func dnsAnswers(ctx context.Context) error {
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(NodeIP, "53"))
	}}
	addresses, err := resolver.LookupHost(ctx, "kubernetes.default.svc."+domain+".")
	if err != nil {
		return err
	}
	if len(addresses) != 1 || addresses[0] != ServiceIP {
		return fmt.Errorf("DNS says that the kubernetes Service is at %s, not at %s", strings.Join(addresses, ", "), ServiceIP)
	}
	return nil
}

// resources maps the kinds in objects.yaml to their resources.
var resources = map[string]schema.GroupVersionResource{
	"StorageClass":       {Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"},
	"ClusterRole":        {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	"ClusterRoleBinding": {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
}

// applyObjects applies the objects that every cluster needs.
func applyObjects(ctx context.Context, client dynamic.Interface) error {
	file, err := os.Open(state.Inside.Path("etc", "objects.yaml"))
	if err != nil {
		return err
	}
	defer file.Close()
	objects, err := parseObjects(file)
	if err != nil {
		return err
	}
	for _, object := range objects {
		resource, known := resources[object.GetKind()]
		if !known {
			return fmt.Errorf("objects.yaml: no resource is known for kind %q", object.GetKind())
		}
		_, err := client.Resource(resource).Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: "knee-cluster", Force: true})
		if err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

func parseObjects(r io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(r, 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}
