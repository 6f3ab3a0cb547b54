// Command samples-run runs the scaled-down samples on a cluster with Knee, one after the other, and prints the verdict of each.
// It fails if a campaign does not finish.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/samplesrun"
)

func main() {
	root := flag.String("root", ".", "folder of the checkout")
	kubeconfig := flag.String("kubeconfig", ".cluster/kubeconfig", "of the cluster that has Knee")
	only := flag.String("samples", "", "samples to run, separated by commas; empty for all")
	timeout := flag.Duration("timeout", 20*time.Minute, "limit for each sample")
	keep := flag.Bool("keep", false, "leave the namespace of each sample, samples-run-NAME")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *root, *kubeconfig, *only, *timeout, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "samples-run:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, kubeconfig, only string, timeout time.Duration, keep bool) error {
	names, err := chosen(root, only)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("no cluster in %s: run `make deploy`: %w", kubeconfig, err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme.New()})
	if err != nil {
		return err
	}
	r := runner{Client: c, out: os.Stdout, pause: 5 * time.Second}
	var verdicts []verdict
	var failed []error
	for _, name := range names {
		limited, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not finished within %s", timeout))
		objects, err := samplesrun.Build(root, name)
		if err == nil {
			var found []verdict
			found, err = r.run(limited, name, objects)
			verdicts = append(verdicts, found...)
		}
		cancel()
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
		if !keep {
			if err := r.remove(ctx, name); err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", name, err))
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	printVerdicts(os.Stdout, verdicts)
	return errors.Join(failed...)
}

// chosen returns the samples that the flag -samples names. If the flag is empty, chosen returns all samples.
func chosen(root, only string) ([]string, error) {
	all, err := samplesrun.Overlays(root)
	if err != nil || only == "" {
		return all, err
	}
	names := strings.Split(only, ",")
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("-samples: unknown sample %q, want one of %s", name, strings.Join(all, ", "))
		}
	}
	return names, nil
}
