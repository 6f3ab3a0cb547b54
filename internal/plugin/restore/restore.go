// Package restore writes the records of a bundle into a cluster, for kubectl knee import.
package restore

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/bundle"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/plugin/source"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// Result counts the records of a bundle.
type Result struct {
	Written  int  // written, or in a dry run: would be written
	Existing int  // the cluster has a record of the attempt
	Unused   int  // of cells that the campaign does not have, so the campaign would not use them
	Campaign bool // the campaign exists in the cluster
}

// Import writes the records of a bundle as ConfigMaps without an owner. A campaign of the same name in the namespace then adopts those
// that fit its spec, also if it is created later. Import checks all records before it writes one. It never changes an existing object.
func Import(ctx context.Context, c client.Client, namespace string, b *bundle.Bundle, isDryRun bool) (Result, error) {
	records, err := decode(b)
	if err != nil {
		return Result{}, err
	}
	target, result, err := findTarget(ctx, c, namespace, b)
	if err != nil {
		return Result{}, err
	}
	known, err := recordedAttempts(ctx, c, target, result.Campaign)
	if err != nil {
		return Result{}, err
	}
	cells := cellHashes(target, slices.Collect(maps.Values(records)))
	former := b.Campaign.DeepCopy()
	former.Namespace, former.Spec.RecordsWhenDeleted = namespace, v1alpha1.RecordsKeep
	var missing []*corev1.ConfigMap
	for _, name := range slices.Sorted(maps.Keys(records)) {
		attempt := records[name].Attempt
		present := attempt
		present.Campaign = string(target.UID)
		switch {
		case !cells[attempt.Cell]:
			result.Unused++
		case known[present]:
			result.Existing++
		default:
			missing = append(missing, resources.RecordConfigMap(former, strings.TrimSuffix(name, resources.RecordName("")), attempt, b.Records[name]))
		}
	}
	for _, options := range [][]client.CreateOption{{client.DryRunAll}, nil} { // the dry run finds conflicts before anything is written
		if options == nil && isDryRun {
			break
		}
		written := 0
		for _, cm := range missing {
			isCreated, err := create(ctx, c, cm.DeepCopy(), options)
			if err != nil {
				return Result{}, err
			}
			if isCreated {
				written++
			}
		}
		result.Written = written
	}
	result.Existing += len(missing) - result.Written
	return result, nil
}

// decode decodes the records of a bundle. It returns an error if a record is damaged or does not belong to the bundle's campaign.
func decode(b *bundle.Bundle) (map[string]record.Record, error) {
	if b.Campaign.UID == "" || b.Campaign.Name == "" {
		return nil, terminal.Usagef("campaign.json of the bundle has no metadata.uid or no metadata.name: import a bundle that kubectl knee export made")
	}
	out, seen := map[string]record.Record{}, map[record.Attempt]string{}
	for _, name := range slices.Sorted(maps.Keys(b.Records)) {
		rec, err := record.Decode(b.Records[name])
		switch {
		case err != nil:
			return nil, terminal.Usagef("record %s of the bundle is damaged: %w", name, err)
		case len(validation.IsDNS1123Subdomain(name)) > 0 || !strings.HasSuffix(name, resources.RecordName("")):
			return nil, terminal.Usagef("record %q of the bundle does not have the name of a record: the bundle was not made by kubectl knee export", name)
		case rec.Attempt.Campaign != string(b.Campaign.UID):
			return nil, terminal.Usagef("record %s of the bundle belongs to a campaign with UID %s, but the campaign of the bundle has UID %s", name, rec.Attempt.Campaign, b.Campaign.UID)
		case seen[rec.Attempt] != "":
			return nil, terminal.Usagef("records %s and %s of the bundle are of the same attempt", seen[rec.Attempt], name)
		}
		seen[rec.Attempt], out[name] = name, rec
	}
	return out, nil
}

// findTarget returns the campaign that would use the records: that of the cluster, or the bundle's own if the cluster has none.
func findTarget(ctx context.Context, c client.Client, namespace string, b *bundle.Bundle) (*v1alpha1.BenchmarkCampaign, Result, error) {
	var target v1alpha1.BenchmarkCampaign
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: b.Campaign.Name}, &target)
	if apierrors.IsNotFound(err) {
		return b.Campaign, Result{}, nil
	}
	return &target, Result{Campaign: true}, err
}

// recordedAttempts returns the attempts of which a campaign in the cluster has records.
func recordedAttempts(ctx context.Context, c client.Client, campaign *v1alpha1.BenchmarkCampaign, exists bool) (map[record.Attempt]bool, error) {
	out := map[record.Attempt]bool{}
	if !exists {
		return out, nil
	}
	_, err := source.EachConfigMap(ctx, c, campaign, resources.ComponentRecord, func(cm *corev1.ConfigMap) error {
		data, err := source.RecordJSON(cm)
		if err != nil || data == nil {
			return err
		}
		rec, err := record.Decode(data)
		out[rec.Attempt] = true
		return err
	})
	return out, err
}

// cellHashes returns the identities of a campaign's cells. Contents of ConfigMaps are those of the records.
func cellHashes(c *v1alpha1.BenchmarkCampaign, records []record.Record) map[string]bool {
	out := map[string]bool{}
	for _, cell := range plan.BuildWith(c, plan.RecordedContents(c, records)).Cells {
		out[cell.Hash] = true
	}
	return out
}

// create creates a record. It returns false if the record exists, and an error if another object has its name.
func create(ctx context.Context, c client.Client, cm *corev1.ConfigMap, options []client.CreateOption) (isCreated bool, err error) {
	err = c.Create(ctx, cm.DeepCopy(), options...)
	if !apierrors.IsAlreadyExists(err) {
		return err == nil, err
	}
	var existing corev1.ConfigMap
	if err := c.Get(ctx, client.ObjectKeyFromObject(cm), &existing); err != nil {
		return false, err
	}
	data, err := source.RecordJSON(&existing)
	if err != nil || !bytes.Equal(data, []byte(cm.Data[resources.RecordKey])) {
		return false, fmt.Errorf("ConfigMap %s/%s exists with other content; kubectl knee import changes no existing object: delete the ConfigMap, or import into another namespace", cm.Namespace, cm.Name)
	}
	return false, nil
}
