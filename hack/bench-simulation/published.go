package main

// publishedCurve is a published sweep (OpenSearch 3.1.0, nyc_taxis, bulk size 10,000), which is taken as the true curve. Single points
// of these sweeps lie above or below their neighbours, unlike the points of regular synthetic curves.
type publishedCurve struct {
	name    string
	clients []int32
	docs    []float64 // docs/s
}

var publishedCurves = []publishedCurve{
	{"arm", []int32{12, 16, 20, 24, 32, 40, 48}, []float64{336527, 345964, 335456, 341191, 349156, 342395, 341377}},
	{"intel", []int32{12, 16, 20, 32, 40, 48}, []float64{239130, 236746, 242232, 238201, 232926, 243044}},
}

// newPublishedTable returns a table of the published curves. Its bounds are weaker: the adaptive sweep must find as many exact knees as
// one full pass in the mean of both curves, and as many knees within one step of each curve.
func newPublishedTable(s setting, sweeps int, seed uint64) *table {
	ways := []way{fullOnce, fullFour, adaptively}
	t := &table{Setting: s, Rows: namedRows(ways), bounded: true}
	for _, c := range publishedCurves {
		t.Groups = append(t.Groups, c.name)
	}
	t.measure = func(way int) []outcome {
		var out []outcome
		for group, c := range publishedCurves {
			rng := newRand(seed, s.String(), c.name)
			for range sweeps {
				out = append(out, ways[way].measure(s.cell(rng, c.clients, c.docs), group))
			}
		}
		return out
	}
	return t
}

func (t *table) isPublished() bool { return t.Groups[0] == publishedCurves[0].name }
