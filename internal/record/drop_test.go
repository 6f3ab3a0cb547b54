package record

import "testing"

func TestDrop_losses(t *testing.T) {
	for drop, want := range map[Drop]loss{
		"tasks":                      loseTasks,
		"tasks[1:]":                  loseTasks,
		"tasks[8:]":                  loseTasks,
		"tasks after the first 8":    loseTasks, // written by an earlier version
		"tasks[1:].latency":          0,
		"nodes":                      loseNodes | loseAllNodes,
		"all but the 16 worst nodes": loseNodes,
		"all but the 4 worst nodes":  loseNodes, // written by an earlier version
		"node.os":                    0,
		"node.disk,gc":               loseCollections,
		"nodes.disk,gc":              loseCollections, // written by an earlier version
		"of a later program":         0,
	} {
		if got := losses[drop]; got != want {
			t.Errorf("%s: got %b, want %b", drop, got, want)
		}
	}
}
