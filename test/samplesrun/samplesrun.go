// Package samplesrun builds the samples for `make samples-run`. An overlay in config/samples-run scales each sample of
// config/samples down for one small machine.
package samplesrun

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Samples returns the names of the files in config/samples that contain a campaign, without their extension.
func Samples(root string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(root, "config", "samples", "*.yaml"))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(text, []byte("kind: BenchmarkCampaign")) {
			out = append(out, strings.TrimSuffix(filepath.Base(file), ".yaml"))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no sample has a campaign in %s", root)
	}
	slices.Sort(out)
	return out, nil
}

// Overlays returns the names of the folders in config/samples-run.
func Overlays(root string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(root, "config", "samples-run"))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out, nil
}

// Namespace returns the namespace that a sample runs in.
func Namespace(sample string) string { return "samples-run-" + sample }

// Build returns the objects of a sample, scaled down.
func Build(root, sample string) ([]*unstructured.Unstructured, error) {
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone // an overlay refers to a file in another folder
	resources, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), filepath.Join(root, "config", "samples-run", sample))
	if err != nil {
		return nil, fmt.Errorf("config/samples-run/%s: %w", sample, err)
	}
	var out []*unstructured.Unstructured
	for _, r := range resources.Resources() {
		object, err := r.Map()
		if err != nil {
			return nil, fmt.Errorf("config/samples-run/%s: %w", sample, err)
		}
		out = append(out, &unstructured.Unstructured{Object: object})
	}
	return out, nil
}
