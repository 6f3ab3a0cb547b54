package record

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// anyText returns a random text of up to n characters, as any program may print it. The text may contain any byte, characters that
// JSON escapes, and runes of several bytes.
func anyText(r *rand.Rand, n int) string {
	kinds := []func() string{
		func() string { return string([]byte{byte(r.IntN(256))}) },
		func() string { return string(rune(r.IntN(0x20))) },
		func() string {
			return []string{`"`, `\`, "<", "&", "\u2028", "\u2029", "\x7f", "\ufffd", "😀", "é"}[r.IntN(10)]
		},
		func() string { return string(rune('a' + r.IntN(26))) },
	}
	only := r.IntN(2 * len(kinds)) // half of the texts have only one kind of character, which gives the longest JSON
	var out []byte
	for range r.IntN(n + 1) {
		kind := r.IntN(len(kinds))
		if only < len(kinds) {
			kind = only
		}
		out = append(out, kinds[kind]()...)
	}
	return string(out)
}

// anyFigure returns a number with a long JSON representation, or one that JSON cannot represent.
func anyFigure(r *rand.Rand) float64 {
	return []float64{r.Float64(), r.Float64() * 1e18, -r.Float64() * 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, math.NaN(), math.Inf(-1)}[r.IntN(7)]
}

// biggest returns a record of up to 64 nodes and 100 tasks with every field set and random texts and figures.
func biggest(r *rand.Rand) Record {
	rec := full(r.IntN(65), r.IntN(101))
	long := []int{10, 63, 300, 5000}[r.IntN(4)]
	text := func(s *string) {
		if r.IntN(3) > 0 {
			*s = anyText(r, long)
		}
	}
	rec.ClientCheck = &ClientCheck{Documents: math.MaxInt64, BulkSize: math.MaxInt64, Rejections: math.MaxInt64}
	for _, f := range checkFigures(rec.ClientCheck) {
		*f = anyFigure(r)
	}
	for _, s := range append(shortenedTexts(&rec), comparedTexts(&rec)...) {
		text(s)
	}
	text(&rec.Error.Message)
	text(&rec.Artifacts)
	rec.Attempt.Phase = OpenLoop
	rec.Attempt.Clients, rec.Attempt.Repetition, rec.Attempt.N, rec.Attempt.Placement = math.MaxInt32, math.MaxInt32, math.MaxInt32, math.MaxInt32
	rec.Attempt.TargetDocsPerSecond = math.MaxInt64
	rec.StartedAt, rec.FinishedAt = math.MaxInt64, math.MinInt64
	rec.Ingest.Documents, rec.Ingest.TotalIndexed, rec.Ingest.Count, rec.Ingest.Corpus = math.MaxInt64, math.MinInt64, math.MaxInt64, math.MaxInt64
	rec.Ingest.IndexFailed, rec.Ingest.IndexBytes, rec.Ingest.Segments, rec.Ingest.BulkSize = math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64
	most := int64(math.MaxInt64)
	rec.Rejections = Rejections{WritePool: most, IndexingPressure: most, ShardPressure: most, AdmissionControl: most, CircuitBreakers: most,
		NoAdmissionControl: true, SegmentReplication: &most, RemoteStore: &most}
	rec.Ingest.OSBDocsPerSecond, rec.Ingest.SteadySeconds, rec.Ingest.CVPercent = anyFigure(r), anyFigure(r), anyFigure(r)
	for i := range rec.Nodes {
		n := &rec.Nodes[i]
		for _, f := range []*float64{&n.CPURange.Min, &n.Disk.IOPS, &n.Disk.ReadMiBs, &n.Network.ReceiveMiBs, &n.Pressure.CPU, &n.GC.Pauses.Millis, &n.CPU.RunQueue} {
			*f = anyFigure(r)
		}
		n.CPU.IOWait, n.CPU.User, n.CPU.Sys = 100*r.Float64(), 50*r.Float64(), 50*r.Float64()
	}
	return rec
}

// worstOf returns the highest value of a figure over all nodes.
func worstOf(nodes []Node, figure func(CPU) float64) float64 {
	worst := 0.0
	for _, n := range nodes {
		worst = max(worst, figure(*n.CPU))
	}
	return worst
}

// TestEncode_biggestRecord_fits checks that records with many nodes and arbitrary texts fit, and still contain all figures
// that a verdict needs.
func TestEncode_biggestRecord_fits(t *testing.T) {
	most := 0
	for seed := range uint64(60) {
		rec := biggest(rand.New(rand.NewPCG(seed, 4)))
		encoded, err := Encode(rec)
		if err != nil || len(encoded) > MaxBytes {
			t.Fatalf("seed %d: %d bytes, %v", seed, len(encoded), err)
		}
		most = max(most, len(encoded))
		got, err := Decode(encoded)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		is, was := got.Attempt, rec.Attempt
		is.Variant, is.Topology, was.Variant, was.Topology = "", "", "", "" // only users read these names, so Encode may shorten them
		if is != was || !reflect.DeepEqual(got.Rejections, rec.Rejections) || got.Error.Reason != rec.Error.Reason || got.FinishedAt != rec.FinishedAt ||
			got.Ingest == nil || got.Ingest.Count != rec.Ingest.Count || got.Ingest.Corpus != rec.Ingest.Corpus ||
			math.Abs(got.Ingest.DocsPerSecond-rec.Ingest.DocsPerSecond) > 1 || got.Ingest.Primaries != rec.Ingest.Primaries {
			t.Fatalf("seed %d: of\n%+v\nstays\n%+v", seed, rec, got)
		}
		if len(rec.Nodes) > 0 && len(got.Nodes) == 0 {
			t.Fatalf("seed %d: no node stays of %d; dropped %q", seed, len(rec.Nodes), got.Dropped)
		}
		for what, figure := range map[string]func(CPU) float64{"iowait": func(c CPU) float64 { return c.IOWait }, "busy": CPU.Busy} {
			if a, b := worstOf(rec.Nodes, figure), worstOf(got.Nodes, figure); math.Abs(a-b) > 0.02 {
				t.Fatalf("seed %d: worst %s %v becomes %v", seed, what, a, b)
			}
		}
	}
	t.Logf("the longest takes %d of %d bytes", most, MaxBytes)
}
