package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/knee-bench/knee/internal/bundle"
	"github.com/knee-bench/knee/internal/plugin/terminal"
)

func (p *plugin) exportCommand() *cobra.Command {
	var file, artifacts string
	cmd := &cobra.Command{
		Use:   "export NAME --bundle FILE",
		Short: "Save a campaign, its records and its report in one file",
		Long: `Save a campaign in one file, a gzipped tar. The file contains the object, every
record (including earlier reruns), the report as the operator wrote it, the
versions of the programs that made these parts, and the SHA-256 of each part.
The same contents always give the same bytes. kubectl knee report, compare and
analyze can read the file.

--artifacts adds the trials' raw files and series from a local copy of the
campaign's artifacts volume.`,
		Example: `  kubectl knee export arm-vs-intel --bundle arm-vs-intel.tar.gz
  kubectl knee export arm-vs-intel --bundle x.tar.gz --artifacts ./artifacts`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: p.reader.CampaignNames(1, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.export(cmd.Context(), args[0], file, artifacts)
		},
	}
	cmd.Flags().StringVar(&file, "bundle", "", "file to write; - is standard output")
	cmd.Flags().StringVar(&artifacts, "artifacts", "", "folder with a local copy of the artifacts volume, whose files are added to the bundle")
	terminal.PanicOnError(cmd.MarkFlagRequired("bundle"))
	terminal.PanicOnError(cmd.MarkFlagDirname("artifacts"))
	return cmd
}

func (p *plugin) export(ctx context.Context, name, file, artifacts string) error {
	s, err := p.reader.ReadFromCluster(ctx, name)
	if err != nil {
		return err
	}
	s.Campaign.ManagedFields = nil // the bundle omits which programs and users applied the object
	if artifacts != "" {
		if s.Artifacts, err = findArtifacts(artifacts); err != nil {
			return terminal.AsUsageError(err)
		}
	}
	if file == "-" {
		return bundle.Write(p.streams.Out, &s.Bundle)
	}
	if err := writeAtomically(file, func(out io.Writer) error { return bundle.Write(out, &s.Bundle) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.streams.Out, "bundle %s contains %d records, %d files of the report and %d files of the artifacts volume\n", file, len(s.Records), len(s.Report), len(s.Artifacts))
	return err
}

// findArtifacts returns the plain files below a folder. It does not follow links, because a link could lead anywhere.
func findArtifacts(dir string) ([]bundle.Artifact, error) {
	var out []bundle.Artifact
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Type().IsRegular() {
			out = append(out, bundle.Artifact{Name: path, Open: func() (io.ReadCloser, error) { return root.Open(path) }})
		}
		return nil
	})
	return out, err
}

// writeAtomically writes a file completely or not at all.
func writeAtomically(path string, write func(io.Writer) error) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temporary.Name())
		}
	}()
	if err := write(temporary); err != nil {
		temporary.Close()
		return err
	}
	if err := temporary.Chmod(0o644); err != nil {
		temporary.Close()
		return err
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
