package documents

import "testing"

// TestConfigShare_splitsDocumentsByWorkers checks pods with different numbers of workers. Every worker gets about the same
// number of documents, and every document belongs to exactly one pod.
func TestConfigShare_splitsDocumentsByWorkers(t *testing.T) {
	for _, pods := range [][]int{{1}, {4}, {2, 2, 2, 1}, {6, 5, 5}, {1, 1, 1, 1}} {
		all := 0
		for _, workers := range pods {
			all += workers
		}
		for _, documents := range []int64{0, 1, 7, 1000, 40_001, 225_000_000, 1_000_000_000_000} {
			next, first := int64(0), 0
			for _, workers := range pods {
				c := Config{Workers: workers, FirstClient: first, Clients: all}
				from, to := c.share(documents)
				each := documents / int64(all)
				if n := to - from; from != next || n < each*int64(workers) || n > (each+1)*int64(workers) {
					t.Errorf("pods %v: workers %d to %d have documents %d to %d of %d", pods, first, first+workers-1, from, to, documents)
				}
				next, first = to, first+workers
			}
			if next != documents {
				t.Errorf("pods %v have %d of %d documents", pods, next, documents)
			}
		}
		for number := range int64(100) {
			owners, first := 0, 0
			for _, workers := range pods {
				if (Config{Workers: workers, FirstClient: first, Clients: all}).ownsDocument(number) {
					owners++
				}
				first += workers
			}
			if owners != 1 {
				t.Errorf("pods %v: document %d is sent by %d of them", pods, number, owners)
			}
		}
	}
}
