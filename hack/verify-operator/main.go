// Command verify-operator checks the objects that Knee makes for the opensearch-k8s-operator against a CRD file of the
// operator. In the operator's repository, the file is
// charts/opensearch-operator/files/opensearch.org_opensearchclusters.yaml. A local API server reads the file and
// validates each object strictly in a dry run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/test/opensearchcluster"
)

func main() {
	samples := flag.String("samples", "config/samples", "folder of campaigns")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: verify-operator [-samples FOLDER] CRD_FILE...")
		os.Exit(2)
	}
	if err := run(context.Background(), *samples, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "verify-operator:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, samples string, files []string) (err error) {
	api, stop, err := opensearchcluster.StartServer()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	campaigns, err := opensearchcluster.ReadCampaigns(ctx, api, samples)
	if err != nil {
		return err
	}
	refused := 0
	for _, file := range files {
		crd, err := readCRD(file)
		if err != nil {
			return err
		}
		of, err := opensearchcluster.Install(ctx, api, crd)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		fmt.Printf("%s: OpenSearchCluster of %s\n", file, of)
		for _, c := range campaigns {
			for _, e := range opensearchcluster.Emit(c, of) {
				outcome := "taken"
				if e.Object == nil {
					outcome = "skipped: " + e.Skipped
				} else if err := opensearchcluster.Check(ctx, api, e.Object); err != nil {
					outcome = "REFUSED: " + err.Error()
					refused++
				}
				fmt.Printf("  %s, %s: %s\n", e.Campaign, e.Cell, outcome)
			}
		}
		if err := opensearchcluster.Remove(ctx, api, crd, of); err != nil {
			return err
		}
	}
	if refused > 0 {
		return fmt.Errorf("the API server refused %d objects", refused)
	}
	return nil
}

// readCRD reads a CustomResourceDefinition without decoding its schema.
func readCRD(file string) (*unstructured.Unstructured, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(data, &crd.Object); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if crd.GetKind() != "CustomResourceDefinition" {
		return nil, fmt.Errorf("%s holds kind %q, not a CustomResourceDefinition: give the file of the kind OpenSearchCluster", file, crd.GetKind())
	}
	return crd, nil
}
