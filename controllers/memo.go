package controllers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/version"
)

// maxMemos bounds how many campaigns' records are kept decoded. What one takes is about what the client's cache holds
// of the same records.
const maxMemos = 64

// memos keep, by campaign, what was made of its records the last time, so that a look at a campaign of thousands of
// records whose world did not change costs next to nothing. They are only a cache: without them, or after a restart,
// everything comes out the same.
type memos struct {
	once  sync.Once
	cache *lru.Cache
}

// of is a campaign's memo; a worker has it for itself, since a campaign is reconciled by one at a time.
func (m *memos) of(c *v1alpha1.BenchmarkCampaign) *memo {
	m.once.Do(func() { m.cache = lru.New(maxMemos) })
	key := types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
	if known, ok := m.cache.Get(key); ok && known.(*memo).campaign == c.UID {
		return known.(*memo)
	}
	fresh := &memo{campaign: c.UID}
	m.cache.Add(key, fresh)
	return fresh
}

// drop forgets a campaign that is gone.
func (m *memos) drop(key types.NamespacedName) {
	m.once.Do(func() { m.cache = lru.New(maxMemos) })
	m.cache.Remove(key)
}

// memo is what was made of one campaign's records.
type memo struct {
	campaign   types.UID
	read       map[revision]reading
	records    []record.Record
	holders    []decide.Record // the objects that hold them, in the same order
	generation int64           // of the campaign when found was made
	cells      string          // the plan's hashes then: what ConfigMaps hold is part of them
	found      *findings
	digest     string
}

// revision identifies the content of a record's ConfigMap.
type revision struct {
	uid     types.UID
	version string
}

// reading is a record as it was read, or nothing where it is of no known trial.
type reading struct {
	name   string // of the ConfigMap
	made   time.Time
	record record.Record
	known  bool
}

// readRecords decodes the records that it has not seen before.
func (m *memo) readRecords(ctx context.Context, maps []corev1.ConfigMap) []record.Record {
	read := make(map[revision]reading, len(m.read))
	changed := false
	for i := range maps {
		if maps[i].Labels[resources.LabelComponent] != resources.ComponentRecord {
			continue
		}
		key := revision{maps[i].UID, maps[i].ResourceVersion}
		is, seen := m.read[key]
		if !seen {
			is, changed = readRecord(ctx, &maps[i]), true
		}
		read[key] = is
	}
	if !changed && len(read) == len(m.read) {
		return m.records
	}
	*m = memo{campaign: m.campaign, read: read}
	for _, key := range m.revisions() {
		if is := read[key]; is.known {
			m.records = append(m.records, is.record)
			m.holders = append(m.holders, decide.Record{
				Name: is.name, UID: key.uid, Attempt: is.record.Trial, Made: is.made,
			})
		}
	}
	return m.records
}

// revisions are in an order of their own, so that the same records are always in the same order.
func (m *memo) revisions() []revision {
	out := make([]revision, 0, len(m.read))
	for key := range m.read {
		out = append(out, key)
	}
	slices.SortFunc(out, func(a, b revision) int { return strings.Compare(string(a.uid), string(b.uid)) })
	return out
}

// readRecord decodes a record. One that cannot be read says so instead of what was measured, so that its trial is
// measured again.
func readRecord(ctx context.Context, cm *corev1.ConfigMap) reading {
	rec, err := record.Decode([]byte(cm.Data[resources.RecordKey]))
	if err == nil {
		return reading{cm.Name, cm.CreationTimestamp.Time, rec, true}
	}
	rec = record.Record{Version: record.Version, Error: &record.Error{
		Reason: record.ReasonRecordUnreadable, Message: fmt.Sprintf("ConfigMap %s: %v", cm.Name, err),
	}}
	if rec.Trial, err = attemptOf(cm); err != nil {
		log.FromContext(ctx).Error(err, "ignoring a record that is of no known trial", "configMap", cm.Name)
		return reading{}
	}
	return reading{cm.Name, cm.CreationTimestamp.Time, rec, true}
}

// findings are what a campaign's records say, and what is said of them while they stay the same.
type findings struct {
	report.Input
	status     v1alpha1.BenchmarkCampaignStatus // only what follows from the records
	conclusive bool
	reason     string
	message    string // why it is conclusive, or is not
	sentence   string // of a campaign whose trials are done
}

func findingsOf(in report.Input) *findings {
	f := &findings{Input: in, status: report.Status(in)}
	f.conclusive, f.reason, f.message = in.Assessment.Conclusive()
	if in.Assessment.Finished {
		f.sentence = report.Sentence(in)
	}
	return f
}

// findings are what the records that were read last say, judged by the campaign's spec.
func (m *memo) findings(c *v1alpha1.BenchmarkCampaign, p plan.Plan) *findings {
	var hashes []string
	for _, cell := range p.Cells {
		hashes = append(hashes, cell.Hash)
	}
	cells := strings.Join(hashes, " ")
	if m.found == nil || m.generation != c.Generation || m.cells != cells {
		m.found = findingsOf(report.NewInput(c, p, m.records, version.Version))
		m.generation, m.cells, m.digest = c.Generation, cells, ""
	}
	return m.found
}

// madeOf identifies all that a report is made of: this program, the campaign's spec, and the records.
func (m *memo) madeOf() string {
	if m.digest == "" {
		sum := sha256.New()
		fmt.Fprintf(sum, "%s\n%s\n%d\n%s\n", version.Version, m.campaign, m.generation, m.cells)
		for _, key := range m.revisions() {
			fmt.Fprintf(sum, "%s %s\n", key.uid, key.version)
		}
		m.digest = hex.EncodeToString(sum.Sum(nil))[:32]
	}
	return m.digest
}
