// Command bench-gap measures the idle time of a cell between two loads, with Knee and without. Without Knee, a bare
// loop creates the same Jobs one after the other. The command prints a table and one line of JSON. The time that Knee
// adds is the difference of the two medians; the settle time is excluded.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

func main() {
	trials := flag.Int("trials", 7, "trials in each of the two runs; there is one gap fewer")
	timeout := flag.Duration("timeout", 30*time.Minute, "time limit")
	flag.Parse()
	if *trials < 2 {
		fmt.Fprintln(os.Stderr, "bench-gap: -trials must be at least 2: a gap is between two trials")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	if err := run(ctx, *trials); err != nil {
		fmt.Fprintln(os.Stderr, "bench-gap:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, trials int) error {
	c, err := connect()
	if err != nil {
		return err
	}
	b := bench{client: c, trials: trials}
	if err := b.makeNamespace(ctx); err != nil {
		return err
	}
	defer b.removeNamespace()
	fmt.Fprintf(os.Stderr, "a bare loop of %d Jobs ...\n", trials)
	bare, err := b.bareLoop(ctx)
	if err != nil {
		return fmt.Errorf("bare loop: %w", err)
	}
	fmt.Fprintf(os.Stderr, "a campaign of %d trials ...\n", trials)
	knee, err := b.campaign(ctx)
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	return print(gapsOf(bare), gapsOf(knee))
}

func connect() (client.WithWatch, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme.New()})
}

// gaps are the times between consecutive trials, in seconds.
type gaps struct {
	Load   []float64 // from the end of one load to the start of the next
	Settle []float64 // the part of the gap in which the agent waited until the cluster had settled
	Pods   []float64 // from the end of one agent to the start of the next
}

func gapsOf(records []record.Record) gaps {
	slices.SortFunc(records, func(a, b record.Record) int { return int(a.StartedAt - b.StartedAt) })
	var g gaps
	for i := 1; i < len(records); i++ {
		before, after := records[i-1], records[i]
		g.Load = append(g.Load, float64(after.Ingest.From-before.Ingest.To)/1000)
		g.Settle = append(g.Settle, after.Settle.Seconds)
		g.Pods = append(g.Pods, float64(after.StartedAt-before.FinishedAt)/1000)
	}
	return g
}

// idle returns the gaps without the settle time.
func (g gaps) idle() []float64 {
	out := make([]float64, len(g.Load))
	for i := range g.Load {
		out[i] = g.Load[i] - g.Settle[i]
	}
	return out
}

func print(bare, knee gaps) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "seconds\tmedian\tmin\tmax\tgaps\t")
	row := func(name string, values []float64) {
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%d\t\n", name, stats.Median(values), slices.Min(values), slices.Max(values), len(values))
	}
	for _, side := range []struct {
		name string
		gaps gaps
	}{{"bare loop", bare}, {"Knee", knee}} {
		row(side.name+": load to load", side.gaps.Load)
		row(side.name+": of it, settling", side.gaps.Settle)
		row(side.name+": load to load without settling", side.gaps.idle())
		row(side.name+": agent's end to agent's start", side.gaps.Pods)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	added := stats.Median(knee.idle()) - stats.Median(bare.idle())
	addedPods := stats.Median(knee.Pods) - stats.Median(bare.Pods)
	fmt.Printf("Knee adds a median of %.2f s from load to load without settling, and of %.2f s from agent to agent.\n", added, addedPods)
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"benchmark": "gap", "unit": "s", "gaps": len(knee.Load),
		"bareMedian": stats.Median(bare.idle()), "kneeMedian": stats.Median(knee.idle()), "addedMedian": added,
		"barePodsMedian": stats.Median(bare.Pods), "kneePodsMedian": stats.Median(knee.Pods), "addedPodsMedian": addedPods,
		"bareSettleMedian": stats.Median(bare.Settle), "kneeSettleMedian": stats.Median(knee.Settle),
	})
}
