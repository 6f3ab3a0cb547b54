package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
)

func (p *plugin) reportCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "report NAME",
		Short: "Print a campaign's report, or one file of it",
		Example: `  kubectl knee report arm-vs-intel
  kubectl knee report arm-vs-intel --file results.csv > results.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.report(cmd, args[0], file) },
	}
	cmd.Flags().StringVar(&file, "file", "report.md", "the file of the report to print")
	return cmd
}

func (p *plugin) report(cmd *cobra.Command, name, file string) error {
	c, namespace, err := p.connect()
	if err != nil {
		return err
	}
	var campaign v1alpha1.BenchmarkCampaign
	if err := c.Get(cmd.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &campaign); err != nil {
		return err
	}
	if len(campaign.Status.Reports) == 0 {
		return fmt.Errorf("campaign %s/%s has no report yet: no trial has ended", namespace, name)
	}
	var have []string
	for _, report := range campaign.Status.Reports {
		var cm corev1.ConfigMap
		if err := c.Get(cmd.Context(), client.ObjectKey{Namespace: namespace, Name: report}, &cm); err != nil {
			return err
		}
		for key, text := range cm.Data {
			if key == file {
				_, err := fmt.Fprint(p.streams.Out, text)
				return err
			}
			have = append(have, key)
		}
	}
	slices.Sort(have)
	return fmt.Errorf("the report of %s/%s has no file %q; it has %v", namespace, name, file, have)
}
