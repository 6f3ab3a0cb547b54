package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/resources"
)

// importedRecords returns the ConfigMaps of the records in a namespace.
func importedRecords(t *testing.T, c client.Client, namespace string) []corev1.ConfigMap {
	t.Helper()
	var list corev1.ConfigMapList
	if err := c.List(t.Context(), &list, client.InNamespace(namespace), client.MatchingLabels{resources.LabelComponent: resources.ComponentRecord}); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// TestImport_bundle_writesRecordsOnce exports a campaign and imports the bundle into another namespace, twice.
func TestImport_bundle_writesRecordsOnce(t *testing.T) {
	c, flags := cluster(t)
	with := func(args ...string) []string { return slices.Concat(args, flags) }
	campaign := installed(t, c, "exported")
	exported := importedRecords(t, c, campaign.Namespace)
	file := filepath.Join(t.TempDir(), "one.tar.gz")
	ok(t, with("export", "exported", "--bundle", file)...)
	target := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "import-"}}
	if err := c.Create(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	into := func(more ...string) []string {
		return with(slices.Concat([]string{"import", file, "--namespace", target.Name}, more)...)
	}

	if out := ok(t, into("--dry-run")...); !strings.HasPrefix(out, "would import 33 records of campaign "+target.Name+"/exported; 0 exist already; 0 belong") {
		t.Errorf("dry run: %q", out)
	}
	if n := len(importedRecords(t, c, target.Name)); n != 0 {
		t.Errorf("a dry run wrote %d records", n)
	}
	if out := ok(t, into()...); !strings.HasPrefix(out, "imported 33 records") || !strings.Contains(out, "does not exist: it uses the records when it is created") {
		t.Errorf("import: %q", out)
	}
	imported := importedRecords(t, c, target.Name)
	for _, cm := range imported {
		i := slices.IndexFunc(exported, func(o corev1.ConfigMap) bool {
			return o.Name == cm.Name && o.Labels[resources.LabelCampaign] == string(campaign.UID)
		})
		if i < 0 || len(cm.OwnerReferences) > 0 || cm.Annotations[resources.AnnotationCampaignName] != "exported" ||
			!strings.HasPrefix(cm.Name, "torn-") && cm.Data[resources.RecordKey] != exported[i].Data[resources.RecordKey] {
			t.Errorf("%s is not the record that was exported", cm.Name)
		}
	}
	if out := ok(t, into()...); !strings.HasPrefix(out, "imported 0 records") || !strings.Contains(out, "33 exist already") {
		t.Errorf("second import: %q", out)
	}

	// An object with other content is never overwritten, and then nothing else is written.
	changed := imported[0].DeepCopy()
	for i := range imported {
		if err := c.Delete(t.Context(), &imported[i]); err != nil {
			t.Fatal(err)
		}
	}
	changed.UID, changed.ResourceVersion, changed.Data = "", "", map[string]string{"mine": "1"}
	if err := c.Create(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	fails(t, exitFailed, "exists with other content", into()...)
	if n := len(importedRecords(t, c, target.Name)); n != 1 {
		t.Errorf("%d records, want only the one that was there", n)
	}

	damaged, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damaged[len(damaged)/2] ^= 1
	if err := os.WriteFile(file, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	fails(t, exitUsage, "the bundle is damaged", into()...)
}
