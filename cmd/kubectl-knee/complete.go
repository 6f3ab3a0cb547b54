package main

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// completionTimeout bounds what a person waits for after pressing Tab.
const completionTimeout = 3 * time.Second

// completer gives what could stand in a place of the command line.
type completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// campaignNames completes up to n names of campaigns; where files may stand too, the shell adds them.
func (p *plugin) campaignNames(n int, or cobra.ShellCompDirective) completer {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var list v1alpha1.BenchmarkCampaignList
		if !p.list(cmd.Context(), &list, true) {
			return nil, or
		}
		var names []string
		for _, c := range list.Items {
			if !slices.Contains(args, c.Name) {
				names = append(names, c.Name)
			}
		}
		return names, or
	}
}

// list asks the cluster, if it answers at once.
func (p *plugin) list(ctx context.Context, into client.ObjectList, inNamespace bool) bool {
	c, namespace, err := p.connect()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	var options []client.ListOption
	if inNamespace {
		options = append(options, client.InNamespace(namespace))
	}
	return c.List(ctx, into, options...) == nil
}

// completeFlags completes the values of kubectl's own flags.
func (p *plugin) completeFlags(cmd *cobra.Command) {
	config := func(names func() []string) completer {
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return names(), cobra.ShellCompDirectiveNoFileComp
		}
	}
	for flag, complete := range map[string]completer{
		"namespace": func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			var list corev1.NamespaceList
			p.list(cmd.Context(), &list, false)
			var names []string
			for _, n := range list.Items {
				names = append(names, n.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		"context": config(func() []string {
			raw, _ := p.flags.ToRawKubeConfigLoader().RawConfig() // nothing to complete without one
			return slices.Sorted(maps.Keys(raw.Contexts))
		}),
		"cluster": config(func() []string {
			raw, _ := p.flags.ToRawKubeConfigLoader().RawConfig()
			return slices.Sorted(maps.Keys(raw.Clusters))
		}),
		"user": config(func() []string {
			raw, _ := p.flags.ToRawKubeConfigLoader().RawConfig()
			return slices.Sorted(maps.Keys(raw.AuthInfos))
		}),
	} {
		must(cmd.RegisterFlagCompletionFunc(flag, complete))
	}
}

// must is for what only a mistake in this program can break.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
