package status

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/observe"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/doubts"
	"github.com/knee-bench/knee/internal/version"
)

// Findings holds the results of a campaign: its records, judged by its spec.
type Findings struct {
	view.Input

	status     v1alpha1.BenchmarkCampaignStatus // only the fields that depend on the records
	conclusive bool
	reason     string
	message    string // why the result is conclusive, or why it is not
	sentence   string // the result; empty until the trials are done

	key    findingsKey
	digest string // see MadeOf
}

// findingsKey identifies all inputs of Findings.
type findingsKey struct {
	campaign   types.UID
	generation int64
	cells      string           // hashes of the plan's cells, which include the contents of ConfigMaps
	records    *observe.Records // a changed record gives a new pointer
	closed     bool
}

// FindingsCache keeps the Findings of campaigns. So a Reconcile of a campaign with thousands of unchanged records needs hardly
// any time. It does not affect results: without the cache, or after a restart, the result is the same.
type FindingsCache struct {
	once      sync.Once
	campaigns *lru.Cache // keys are types.NamespacedName, values are *Findings
}

func (c *FindingsCache) init() {
	c.once.Do(func() { c.campaigns = lru.New(observe.MaxCampaigns) })
}

// Forget removes the Findings of a deleted campaign from the cache.
func (c *FindingsCache) Forget(key types.NamespacedName) {
	c.init()
	c.campaigns.Remove(key)
}

// Find returns the Findings of a campaign, from the cache if the inputs have not changed. If closed is true, the campaign was finished
// before: the trials that are done count as all planned trials.
func (c *FindingsCache) Find(campaign *v1alpha1.BenchmarkCampaign, p plan.Plan, records *observe.Records, closed bool) *Findings {
	c.init()
	var hashes []string
	for _, cell := range p.Cells {
		hashes = append(hashes, cell.Hash)
	}
	name := client.ObjectKeyFromObject(campaign)
	key := findingsKey{campaign.UID, campaign.Generation, strings.Join(hashes, " "), records, closed}
	if cached, ok := c.campaigns.Get(name); ok && cached.(*Findings).key == key {
		return cached.(*Findings)
	}
	in := view.NewInput(campaign, p, records.Records, version.Version)
	if closed {
		in.Assessment.Close()
	}
	found := newFindings(in)
	found.key = key
	c.campaigns.Add(name, found)
	return found
}

func newFindings(in view.Input) *Findings {
	f := &Findings{Input: in, status: summary.Status(in)}
	f.conclusive, f.reason, f.message = doubts.Conclusive(in.Assessment)
	if in.Assessment.Finished {
		f.sentence = summary.Sentence(in)
	}
	return f
}

// HasLessThan reports whether the campaign's status has more trials done for the same generation. Then a record is gone or judged in another
// way, or the cache of records is older than the status.
func (f *Findings) HasLessThan(c *v1alpha1.BenchmarkCampaign) bool {
	return c.Status.ObservedGeneration == c.Generation && ptr.Deref(f.status.TrialCounts.Done, 0) < ptr.Deref(c.Status.TrialCounts.Done, 0)
}

// MadeOf returns a digest of all inputs of the report: this program's version, the campaign's spec, and the records.
func (f *Findings) MadeOf() string {
	if f.digest == "" {
		sum := sha256.New()
		fmt.Fprintf(sum, "%s\n%s\n%d\n%s\n", version.Version, f.key.campaign, f.key.generation, f.key.cells)
		for _, revision := range f.key.records.Revisions {
			fmt.Fprintln(sum, revision)
		}
		f.digest = hex.EncodeToString(sum.Sum(nil))[:32]
	}
	return f.digest
}
