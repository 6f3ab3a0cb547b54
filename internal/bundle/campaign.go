package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// readCampaign decodes the campaign of a bundle. It returns an error for another version of the API, and for fields of spec that this
// version of Knee does not know: the plan of the campaign would not be the plan that the records belong to. It ignores unknown fields
// of the status, because no figure is taken from them.
func readCampaign(data []byte) (*v1alpha1.BenchmarkCampaign, error) {
	var out struct {
		v1alpha1.BenchmarkCampaign
		Spec json.RawMessage `json:"spec"` // hides the spec of the campaign
	}
	if err := unmarshal(campaignFile, data, &out); err != nil {
		return nil, err
	}
	c := &out.BenchmarkCampaign
	switch want := v1alpha1.GroupVersion.WithKind("BenchmarkCampaign"); {
	case c.GroupVersionKind() != want:
		return nil, fmt.Errorf("%s has apiVersion %s and kind %s, but this version of kubectl knee reads only %s and %s: use the version of kubectl knee that made the bundle",
			campaignFile, c.APIVersion, c.Kind, v1alpha1.GroupVersion, want.Kind)
	case c.Name == "":
		return nil, fmt.Errorf("%s lacks metadata.name", campaignFile)
	case c.UID == "":
		return nil, fmt.Errorf("%s lacks metadata.uid, which the records name", campaignFile)
	}
	if out.Spec == nil {
		return nil, fmt.Errorf("%s lacks spec", campaignFile)
	}
	decoder := json.NewDecoder(bytes.NewReader(out.Spec))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c.Spec); err != nil {
		return nil, fmt.Errorf("spec of %s: %w: use the version of kubectl knee that made the bundle", campaignFile, err)
	}
	if data, err := json.Marshal(c.Spec); err != nil || string(data) == "{}" {
		return nil, errors.Join(fmt.Errorf("the spec of %s is empty", campaignFile), err)
	}
	return c, nil
}

// check returns an error if another version of Knee wrote the bundle in another format.
func (v Versions) check() error {
	switch {
	case v.Format != Format:
		return fmt.Errorf("the bundle has format %d, but this version of kubectl knee reads only format %d: use the version of kubectl knee that made the bundle", v.Format, Format)
	case v.Record != record.Version:
		return fmt.Errorf("the bundle has records of version %d, but this version of kubectl knee reads only version %d: use the version of kubectl knee that made the bundle", v.Record, record.Version)
	}
	return nil
}
