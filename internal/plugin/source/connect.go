package source

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
)

// Connect returns a client, and the namespace from the flags or the kubeconfig.
func (r Reader) Connect() (client.WithWatch, string, error) {
	namespace, _, err := r.Flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, "", err
	}
	config, err := r.Flags.ToRESTConfig()
	if err != nil {
		return nil, "", err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme.New()})
	return c, namespace, err
}

// CampaignConfigMaps selects the ConfigMaps of a campaign that hold records or parts of its report.
func CampaignConfigMaps(campaign *v1alpha1.BenchmarkCampaign, component string) []client.ListOption {
	return []client.ListOption{
		client.InNamespace(campaign.Namespace),
		client.MatchingLabels{resources.LabelCampaign: string(campaign.UID), resources.LabelComponent: component},
		client.Limit(500),
	}
}

// EachConfigMap lists a campaign's ConfigMaps in pages and calls do for each ConfigMap. It returns the resource version of the
// list.
func EachConfigMap(ctx context.Context, c client.Client, campaign *v1alpha1.BenchmarkCampaign, component string,
	do func(*corev1.ConfigMap) error) (resourceVersion string, err error) {
	var list corev1.ConfigMapList
	options := CampaignConfigMaps(campaign, component)
	for {
		if err := c.List(ctx, &list, options...); err != nil {
			return "", fmt.Errorf("cannot list the %s ConfigMaps of campaign %s/%s: %w", component, campaign.Namespace, campaign.Name, err)
		}
		for i := range list.Items {
			if err := do(&list.Items[i]); err != nil {
				return "", err
			}
		}
		if list.Continue == "" {
			return list.ResourceVersion, nil
		}
		options = append(CampaignConfigMaps(campaign, component), client.Continue(list.Continue))
	}
}

// readRecords reads a campaign's records, including the records of earlier reruns. The keys are the names of the ConfigMaps.
func readRecords(ctx context.Context, c client.Client, campaign *v1alpha1.BenchmarkCampaign) (map[string][]byte, error) {
	out := map[string][]byte{}
	_, err := EachConfigMap(ctx, c, campaign, resources.ComponentRecord, func(cm *corev1.ConfigMap) error {
		data, err := RecordJSON(cm)
		if err == nil && data != nil {
			out[cm.Name] = data
		}
		return err
	})
	return out, err
}

// RecordJSON returns the JSON of a record. If a record cannot be read, it returns a record with the same error that the manager writes,
// because the manager's report counts such an attempt. It returns nil if the ConfigMap names no valid attempt, because the manager
// ignores this ConfigMap.
func RecordJSON(cm *corev1.ConfigMap) ([]byte, error) {
	data := []byte(cm.Data[resources.RecordKey])
	_, err := record.Decode(data)
	if err == nil {
		return data, nil
	}
	unreadable := record.Record{Version: record.Version, Error: &record.Error{
		Reason: record.ReasonRecordUnreadable, Message: fmt.Sprintf("ConfigMap %s: %v", cm.Name, err),
	}}
	if json.Unmarshal([]byte(cm.Annotations[resources.AnnotationTrial]), &unreadable.Attempt) != nil {
		return nil, nil
	}
	return json.Marshal(unreadable)
}

// readStoredReport returns the report as the manager wrote it. The report is empty if the manager has not written a report yet.
func readStoredReport(ctx context.Context, c client.Client, campaign *v1alpha1.BenchmarkCampaign) (files map[string]string, writtenBy string, err error) {
	files = map[string]string{}
	_, err = EachConfigMap(ctx, c, campaign, resources.ComponentReport, func(cm *corev1.ConfigMap) error {
		maps.Copy(files, cm.Data)
		writtenBy = cm.Annotations[resources.AnnotationWrittenBy]
		return nil
	})
	return files, writtenBy, err
}
