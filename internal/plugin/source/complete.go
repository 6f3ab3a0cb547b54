package source

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plugin/terminal"
)

// completionTimeout is the maximum time that a user waits after pressing Tab.
const completionTimeout = 3 * time.Second

// Completer returns the possible values for one position of the command line.
type Completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// CampaignNames returns a Completer for up to n names of campaigns. The parameter or is the directive for the shell. The directive
// decides whether the shell also completes file names.
func (r Reader) CampaignNames(n int, or cobra.ShellCompDirective) Completer {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var list v1alpha1.BenchmarkCampaignList
		if !r.listFromCluster(cmd.Context(), &list, true) {
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

// listFromCluster lists objects from the cluster. It returns false if the cluster does not answer within completionTimeout.
func (r Reader) listFromCluster(ctx context.Context, into client.ObjectList, inNamespace bool) bool {
	c, namespace, err := r.Connect()
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

// CompleteFlags completes the values of kubectl's own flags.
func (r Reader) CompleteFlags(cmd *cobra.Command) {
	config := func(names func() []string) Completer {
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return names(), cobra.ShellCompDirectiveNoFileComp
		}
	}
	for flag, complete := range map[string]Completer{
		"namespace": func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			var list corev1.NamespaceList
			r.listFromCluster(cmd.Context(), &list, false)
			var names []string
			for _, n := range list.Items {
				names = append(names, n.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		"context": config(func() []string {
			raw, _ := r.Flags.ToRawKubeConfigLoader().RawConfig() // without a kubeconfig the completion has no values
			return slices.Sorted(maps.Keys(raw.Contexts))
		}),
		"cluster": config(func() []string {
			raw, _ := r.Flags.ToRawKubeConfigLoader().RawConfig()
			return slices.Sorted(maps.Keys(raw.Clusters))
		}),
		"user": config(func() []string {
			raw, _ := r.Flags.ToRawKubeConfigLoader().RawConfig()
			return slices.Sorted(maps.Keys(raw.AuthInfos))
		}),
	} {
		terminal.PanicOnError(cmd.RegisterFlagCompletionFunc(flag, complete))
	}
}
