package main

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

// connect gives a client and the namespace that the flags, or the kubeconfig, name.
func (p *plugin) connect() (client.WithWatch, string, error) {
	namespace, _, err := p.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, "", err
	}
	config, err := p.flags.ToRESTConfig()
	if err != nil {
		return nil, "", err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme.New()})
	return c, namespace, err
}

// ofCampaign selects the ConfigMaps of a campaign that are records, or parts of its report.
func ofCampaign(campaign *v1alpha1.BenchmarkCampaign, component string) []client.ListOption {
	return []client.ListOption{
		client.InNamespace(campaign.Namespace),
		client.MatchingLabels{resources.LabelCampaign: string(campaign.UID), resources.LabelComponent: component},
		client.Limit(500),
	}
}

// eachConfigMap goes through a campaign's ConfigMaps in pages, and gives the resource version of the list.
func eachConfigMap(ctx context.Context, c client.Client, campaign *v1alpha1.BenchmarkCampaign, component string,
	do func(*corev1.ConfigMap) error) (resourceVersion string, err error) {
	var list corev1.ConfigMapList
	options := ofCampaign(campaign, component)
	for {
		if err := c.List(ctx, &list, options...); err != nil {
			return "", fmt.Errorf("list the %ss of campaign %s/%s: %w", component, campaign.Namespace, campaign.Name, err)
		}
		for i := range list.Items {
			if err := do(&list.Items[i]); err != nil {
				return "", err
			}
		}
		if list.Continue == "" {
			return list.ResourceVersion, nil
		}
		options = append(ofCampaign(campaign, component), client.Continue(list.Continue))
	}
}

// records reads a campaign's records by the names of their ConfigMaps: those of earlier reruns too.
func records(ctx context.Context, c client.Client, campaign *v1alpha1.BenchmarkCampaign) (map[string][]byte, error) {
	out := map[string][]byte{}
	_, err := eachConfigMap(ctx, c, campaign, resources.ComponentRecord, func(cm *corev1.ConfigMap) error {
		data, err := recordJSON(cm)
		if err == nil && data != nil {
			out[cm.Name] = data
		}
		return err
	})
	return out, err
}

// recordJSON is the JSON of a record. One that cannot be read says so instead of what was measured, in the words of
// the operator, whose report counts it as an attempt; nil when it is of no known trial, which the operator ignores.
func recordJSON(cm *corev1.ConfigMap) ([]byte, error) {
	data := []byte(cm.Data[resources.RecordKey])
	_, err := record.Decode(data)
	if err == nil {
		return data, nil
	}
	unreadable := record.Record{Version: record.Version, Error: &record.Error{
		Reason: record.ReasonRecordUnreadable, Message: fmt.Sprintf("ConfigMap %s: %v", cm.Name, err),
	}}
	if json.Unmarshal([]byte(cm.Annotations[resources.AnnotationTrial]), &unreadable.Trial) != nil {
		return nil, nil
	}
	return json.Marshal(unreadable)
}

// storedReport reads the report as the operator wrote it; empty before there is one.
func storedReport(ctx context.Context, c client.Client, campaign *v1alpha1.BenchmarkCampaign) (map[string]string, error) {
	out := map[string]string{}
	_, err := eachConfigMap(ctx, c, campaign, resources.ComponentReport, func(cm *corev1.ConfigMap) error {
		maps.Copy(out, cm.Data)
		return nil
	})
	return out, err
}
