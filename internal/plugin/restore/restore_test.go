package restore

import (
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/knee-bench/knee/internal/bundle"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/wrappers"
)

// bundleOf returns a bundle with one record of the campaign, and the name of the record.
func bundleOf(t *testing.T, edit func(*record.Record)) (*bundle.Bundle, string) {
	t.Helper()
	c := wrappers.MakeCampaign("x").Namespace("bench").UID("uid-x").Variant("a").Obj()
	p := plan.Build(c)
	rec := wrappers.MeasuredRecord(record.Attempt{Trial: p.SweepTrial(p.Cells[0], 1, 1), N: 1}, 100)
	if edit != nil {
		edit(&rec)
	}
	data, err := record.Encode(rec)
	if err != nil {
		t.Fatal(err)
	}
	name := resources.RecordName(p.Cells[0].AttemptName(rec.Attempt))
	return &bundle.Bundle{Campaign: c, Records: map[string][]byte{name: data}}, name
}

// TestImport_foreignOrDamagedRecord_isRefused checks that such a record is a usage error, and that nothing is written.
func TestImport_foreignOrDamagedRecord_isRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		edit func(*bundle.Bundle, string)
		want string
	}{
		"damaged":                   {func(b *bundle.Bundle, name string) { b.Records[name] = b.Records[name][:50] }, "is damaged"},
		"unknown version":           {func(b *bundle.Bundle, name string) { b.Records[name] = []byte(`{"version":99}`) }, "format version 99"},
		"another campaign":          {func(b *bundle.Bundle, _ string) { b.Campaign.UID = "uid-y" }, "belongs to a campaign with UID uid-x"},
		"no UID":                    {func(b *bundle.Bundle, _ string) { b.Campaign.UID = "" }, "has no metadata.uid"},
		"two of an attempt":         {func(b *bundle.Bundle, name string) { b.Records["b-record"] = b.Records[name] }, "are of the same attempt"},
		"a name that no record has": {func(b *bundle.Bundle, name string) { b.Records["kube-root-ca.crt"] = b.Records[name] }, "does not have the name of a record"},
	} {
		b, recordName := bundleOf(t, nil)
		tt.edit(b, recordName)
		api := fake.NewClientBuilder().WithScheme(scheme.New()).Build()
		_, err := Import(t.Context(), api, "bench", b, false)
		if usage := (*terminal.UsageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want a usage error with %q", name, err, tt.want)
		}
	}
}

// TestImport_cellOfAnotherSpec_isLeftOut checks a campaign whose spec has changed since the export.
func TestImport_cellOfAnotherSpec_isLeftOut(t *testing.T) {
	b, _ := bundleOf(t, nil)
	changed := b.Campaign.DeepCopy()
	changed.UID, changed.Spec.Rerun = "uid-new", "again"
	api := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(changed).Build()
	got, err := Import(t.Context(), api, "bench", b, false)
	if want := (Result{Unused: 1, Campaign: true}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}
