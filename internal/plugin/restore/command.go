package restore

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/knee-bench/knee/internal/plugin/source"
)

// Command returns the subcommand import.
func Command(streams genericiooptions.IOStreams, reader source.Reader) *cobra.Command {
	var isDryRun bool
	cmd := &cobra.Command{
		Use:   "import BUNDLE",
		Short: "Write the records of a bundle into the cluster for a campaign",
		Long: `Write the records of a bundle (kubectl knee export) into the namespace, as
ConfigMaps without an owner. The campaign of the same name in that namespace
takes over the records that fit its spec, and measures only what is missing. The
campaign may exist already, or be created later. Records of cells that the
campaign does not have are left out.

Nothing is written if the bundle is damaged, or if another object has the name
of a record. Existing objects never change, so the command can be repeated. The
command requires the permissions get, list and create for ConfigMaps.`,
		Example: `  kubectl knee import arm-vs-intel.tar.gz --dry-run
  kubectl knee import arm-vs-intel.tar.gz -n benchmarks`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := reader.ReadFromBundle(args[0])
			if err != nil {
				return err
			}
			c, namespace, err := reader.Connect()
			if err != nil {
				return err
			}
			result, err := Import(cmd.Context(), c, namespace, &s.Bundle, isDryRun)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(streams.Out, describe(result, namespace+"/"+s.Campaign.Name, isDryRun))
			return err
		},
	}
	cmd.Flags().BoolVar(&isDryRun, "dry-run", false, "check the bundle and the cluster, and write nothing")
	return cmd
}

// describe returns the output of the command.
func describe(r Result, campaign string, isDryRun bool) string {
	verb := "imported"
	if isDryRun {
		verb = "would import"
	}
	text := fmt.Sprintf("%s %d records of campaign %s; %d exist already; %d belong to cells that the campaign does not have\n", verb, r.Written, campaign, r.Existing, r.Unused)
	if !r.Campaign {
		text += fmt.Sprintf("campaign %s does not exist: it uses the records when it is created\n", campaign)
	}
	return text
}
