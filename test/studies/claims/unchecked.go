package claims

// Unchecked returns the figures that no other figure in the document can confirm, with the reason.
func Unchecked(document string) map[string]string {
	return map[string]map[string]string{
		"000": {
			"threads":     "1 thread per core is said of both machines, and nothing else in the document depends on it; Knee reads threads and cores from the node",
			"vcpus":       "the name of the machine type has it as well",
			"documents":   "no run prints a document count or a duration",
			"shards":      "the sections repeat it",
			"shard.low":   "no index size is printed",
			"shard.high":  "no index size is printed",
			"repetitions": "no repetition is printed: the tables have one run of each count",
		},
		"001": {"batch_size": "no reply depends on it"},
		"002": {
			"jvm":   "no other figure depends on it",
			"vcpus": "the instance types' names have it as well",
			"price": "no price is printed",
		},
		"004": {
			"old.leader.cpu":   "the CPU graphs have no figures",
			"new.leader.cpu":   "the CPU graphs have no figures",
			"old.follower.cpu": "the CPU graphs have no figures",
			"new.follower.cpu": "the CPU graphs have no figures",
		},
	}[document]
}
