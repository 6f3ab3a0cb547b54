package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// MaxCampaigns limits the number of campaigns whose decoded records stay in memory. The decoded records of one campaign need
// about as much memory as the same records in the client's cache.
const MaxCampaigns = 64

// RecordCache keeps the decoded records of campaigns, so a Reconcile without new records decodes nothing. It does not affect
// results: without the cache, or after a restart, the result is the same.
type RecordCache struct {
	once      sync.Once
	campaigns *lru.Cache // keys are types.NamespacedName, values are *Records
}

// Records are the decoded records of one campaign. They never change: each change of a ConfigMap makes new Records.
type Records struct {
	Records   []record.Record
	Holders   []decide.Record // the ConfigMaps of the Records, in the same order
	Revisions []string        // identify the content of all record ConfigMaps, also of unreadable ones

	campaign types.UID
	read     map[revision]reading
}

// revision identifies the content of a record's ConfigMap.
type revision struct {
	uid     types.UID
	version string
}

// reading is the result of reading one record.
type reading struct {
	name    string // name of the ConfigMap
	created time.Time
	record  record.Record
	isKnown bool // false: the ConfigMap names no valid attempt
}

// Forget removes the records of a deleted campaign from the cache.
func (c *RecordCache) Forget(key types.NamespacedName) {
	c.init()
	c.campaigns.Remove(key)
}

func (c *RecordCache) init() {
	c.once.Do(func() { c.campaigns = lru.New(MaxCampaigns) })
}

// Read returns the records in a campaign's ConfigMaps. It decodes only new or changed ConfigMaps. If no ConfigMap has changed,
// it returns the same pointer as before.
func (c *RecordCache) Read(ctx context.Context, campaign *v1alpha1.BenchmarkCampaign, maps []corev1.ConfigMap) *Records {
	c.init()
	key := client.ObjectKeyFromObject(campaign)
	before := &Records{}
	if cached, ok := c.campaigns.Get(key); ok && cached.(*Records).campaign == campaign.UID {
		before = cached.(*Records)
	}
	read := make(map[revision]reading, len(before.read))
	changed := before.campaign == ""
	for i := range maps {
		if maps[i].Labels[resources.LabelComponent] != resources.ComponentRecord {
			continue
		}
		key := revision{maps[i].UID, maps[i].ResourceVersion}
		is, isRead := before.read[key]
		if !isRead {
			is, changed = readRecord(ctx, &maps[i]), true
		}
		read[key] = is
	}
	if !changed && len(read) == len(before.read) {
		return before
	}
	records := newRecords(campaign.UID, read)
	c.campaigns.Add(key, records)
	return records
}

// LacksRecords reports whether the API server has records of a campaign, or newer versions of records, that the cache did not show.
func (o *Observer) LacksRecords(ctx context.Context, c *v1alpha1.BenchmarkCampaign, known *Records) (bool, error) {
	var list corev1.ConfigMapList
	if err := o.Uncached.List(ctx, &list, client.InNamespace(c.Namespace), client.MatchingLabels{
		resources.LabelManagedBy: resources.ManagedBy, resources.LabelCampaign: string(c.UID), resources.LabelComponent: resources.ComponentRecord,
	}); err != nil {
		return false, fmt.Errorf("cannot list the campaign's records: %w", err)
	}
	return slices.ContainsFunc(list.Items, func(cm corev1.ConfigMap) bool {
		_, isKnown := known.read[revision{cm.UID, cm.ResourceVersion}]
		return !isKnown
	}), nil
}

// newRecords sorts records by the UIDs of their ConfigMaps, so the same records are always in the same order.
func newRecords(campaign types.UID, read map[revision]reading) *Records {
	out := &Records{campaign: campaign, read: read}
	keys := make([]revision, 0, len(read))
	for key := range read {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b revision) int { return strings.Compare(string(a.uid), string(b.uid)) })
	for _, key := range keys {
		out.Revisions = append(out.Revisions, fmt.Sprintf("%s %s", key.uid, key.version))
		if is := read[key]; is.isKnown {
			out.Records = append(out.Records, is.record)
			out.Holders = append(out.Holders, decide.Record{Name: is.name, UID: key.uid, Attempt: is.record.Attempt, Made: is.created})
		}
	}
	return out
}

// readRecord decodes a record. If the record is unreadable, readRecord returns a record with an error, so the trial is measured again.
func readRecord(ctx context.Context, cm *corev1.ConfigMap) reading {
	rec, err := record.Decode([]byte(cm.Data[resources.RecordKey]))
	if err == nil {
		return reading{cm.Name, cm.CreationTimestamp.Time, rec, true}
	}
	rec = record.Record{Version: record.Version, Error: &record.Error{
		Reason: record.ReasonRecordUnreadable, Message: fmt.Sprintf("ConfigMap %s: %v", cm.Name, err),
	}}
	if rec.Attempt, err = children.AttemptOf(cm); err != nil {
		log.FromContext(ctx).Error(err, "the ConfigMap of an unreadable record has no valid trial annotation: Knee ignores this record", "configMap", cm.Name)
		return reading{}
	}
	return reading{cm.Name, cm.CreationTimestamp.Time, rec, true}
}
