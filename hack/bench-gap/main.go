// Command bench-gap measures the idle time of a cell between the end of one trial's load and the start of the
// next one's: in a campaign that Knee runs, and in a bare loop that creates the same Jobs one after the other
// without Knee. It prints a table and one line of JSON. The difference of the medians, with the time to settle
// taken off both, is what Knee adds.
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

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/scheme"
)

func main() {
	trials := flag.Int("trials", 7, "trials in each of the two runs; the gaps are one fewer")
	timeout := flag.Duration("timeout", 30*time.Minute, "give up after this long")
	flag.Parse()
	if *trials < 2 {
		fmt.Fprintln(os.Stderr, "bench-gap: -trials must be at least 2: a gap lies between two")
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
	Settle []float64 // the part of it that the agent waited for the cluster to come to rest
	Pods   []float64 // from one agent's end to the next one's start
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

// idle is the gap without the time to settle.
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
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%d\t\n", name, analysis.Median(values), slices.Min(values), slices.Max(values), len(values))
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
	added := analysis.Median(knee.idle()) - analysis.Median(bare.idle())
	addedPods := analysis.Median(knee.Pods) - analysis.Median(bare.Pods)
	fmt.Printf("Knee adds %.2f s at the median from load to load without settling, %.2f s from agent to agent.\n", added, addedPods)
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"benchmark": "gap", "unit": "s", "gaps": len(knee.Load),
		"bareMedian": analysis.Median(bare.idle()), "kneeMedian": analysis.Median(knee.idle()), "addedMedian": added,
		"barePodsMedian": analysis.Median(bare.Pods), "kneePodsMedian": analysis.Median(knee.Pods), "addedPodsMedian": addedPods,
		"bareSettleMedian": analysis.Median(bare.Settle), "kneeSettleMedian": analysis.Median(knee.Settle),
	})
}
