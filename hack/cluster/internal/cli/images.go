package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/knee-bench/knee/hack/cluster/internal/image"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

func importCommand(c *cluster) *cobra.Command {
	var force bool
	var deadline time.Duration
	command := &cobra.Command{
		Use: "import IMAGE.tar...", Short: "Give the node the images of docker or OCI archives", Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, files []string) error {
			ctx, cancel := context.WithTimeout(command.Context(), deadline)
			defer cancel()
			return c.importImages(ctx, files, force)
		},
	}
	command.Flags().BoolVar(&force, "force", false, "import also what the node has already")
	command.Flags().DurationVar(&deadline, "deadline", 10*time.Minute, "give up after this time")
	return command
}

func (c *cluster) importImages(ctx context.Context, files []string, force bool) error {
	if _, err := c.running(); err != nil {
		return err
	}
	p := progress(time.Now())
	for _, file := range files {
		archive, err := image.Inspect(file)
		if err != nil {
			return err
		}
		if !force && c.imported(archive) {
			p.say("%s: the node has it", strings.Join(archive.Refs, ", "))
			continue
		}
		if err := c.ctrImport(ctx, file); err != nil {
			return err
		}
		if err := c.rememberImport(archive); err != nil {
			return err
		}
		p.say("%s: imported", strings.Join(archive.Refs, ", "))
	}
	return nil
}

// ctrImport sends the archive to containerd over its socket. It does not pass the path of the archive, because
// containerd has its own mount namespace and may not see the file.
func (c *cluster) ctrImport(ctx context.Context, file string) error {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "ctr", "-a", filepath.Base(c.dir.Containerd()), "-n", "k8s.io", "images", "import", absolute)
	// Use the socket's relative name: its full path can be too long for a socket address.
	command.Dir = string(c.dir)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("importing %s: %w: %s", file, errors.Join(err, ctx.Err()), strings.TrimSpace(string(output)))
	}
	return nil
}

// stamp returns the path of a file for an image name. The file holds the digest of the archive from which the image was
// imported last.
func (c *cluster) stamp(ref string) string {
	return c.dir.Path("imported", fmt.Sprintf("%x", sha256.Sum256([]byte(ref))))
}

func (c *cluster) imported(archive image.Archive) bool {
	for _, ref := range archive.Refs {
		digest, err := os.ReadFile(c.stamp(ref))
		if err != nil || string(digest) != archive.Digest {
			return false
		}
	}
	return true
}

func (c *cluster) rememberImport(archive image.Archive) error {
	if err := os.MkdirAll(c.dir.Path("imported"), 0o755); err != nil {
		return err
	}
	for _, ref := range archive.Refs {
		if err := state.WriteFile(c.stamp(ref), []byte(archive.Digest), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func packCommand() *cobra.Command {
	var spec image.Spec
	var output string
	command := &cobra.Command{
		Use: "pack --tag NAME:TAG --output OUT.tar PROGRAM", Short: "Make an image archive of one static program", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			inside := "/" + filepath.Base(args[0])
			spec.Files = map[string]string{inside: args[0]}
			spec.Entrypoint = []string{inside}
			file, err := os.Create(output)
			if err != nil {
				return err
			}
			return errors.Join(image.Pack(file, spec), file.Close())
		},
	}
	command.Flags().StringVar(&spec.Ref, "tag", "", "the image's name and tag")
	command.Flags().StringVar(&spec.User, "user", "", "user id to run as (default root)")
	command.Flags().StringVar(&output, "output", "", "the archive to write")
	for _, name := range []string{"tag", "output"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err) // happens only if the flag is not declared above
		}
	}
	return command
}
