package driver

import (
	"bufio"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"time"
)

var (
	renderedLine = regexp.MustCompile(`Final rendered workload for '.*' has been written to '([^'\n]+)'`)
	readerLine   = regexp.MustCompile(`Task-relative clients at index \[(\d+)-(\d+)\] will bulk index \[(\d+)\] docs starting from line offset \[(\d+)\] for \[([^\]]*)\]\s+from corpus \[([^\]]*)\]`)
	workerLine   = regexp.MustCompile(`(?m)^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{1,3}) \S+/PID:(\d+) \S+ INFO (Task-relative clients at index|Total run duration: )`)
)

// maxTelling bounds what is kept of the program's log, in bytes: a few hundred for every worker and task.
const maxTelling = 32 << 20

// TellingOSBLog reads the program's log to its end, however long it is, and keeps the lines that the functions below
// look for: what the workers are to send stands near its beginning, when each had sent it near its end.
func TellingOSBLog(log io.Reader) ([]byte, error) {
	var kept []byte
	lines := bufio.NewReaderSize(log, 64<<10) // bytes: more of a line than any that tells has
	whole := true                             // what is read next begins a line
	for {
		line, err := lines.ReadSlice('\n')
		if whole && !errors.Is(err, bufio.ErrBufferFull) && len(kept)+len(line) <= maxTelling && (renderedLine.Match(line) || readerLine.Match(line) || workerLine.Match(line)) {
			kept = append(kept, line...)
		}
		whole = err == nil
		switch {
		case errors.Is(err, io.EOF):
			return kept, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// RenderedWorkloadPath finds in the program's log where it wrote the rendered workload.
func RenderedWorkloadPath(log []byte) string {
	m := renderedLine.FindSubmatch(log)
	if m == nil {
		return ""
	}
	return string(m[1])
}

// DocumentsToSend is how many documents the ingest tasks were to send, from the partitions that the program's
// workers told in its log; 0 when that cannot be known.
func DocumentsToSend(log []byte, in OSBIngest) int64 {
	if in.Timed {
		return 0
	}
	var sum int64
	partitions := map[string]bool{}
	for _, m := range readerLine.FindAllSubmatch(log, -1) {
		docs, err := strconv.ParseInt(string(m[3]), 10, 64)
		if err != nil {
			return 0
		}
		if in.Share < 100 {
			// A worker ends after this share of its bulks, whatever file they come from: with several files, or
			// without a bulk size, the number of documents in those bulks is not known.
			key := string(m[1]) + "-" + string(m[2])
			if partitions[key] || in.BulkSize <= 0 || len(in.Tasks) > 1 {
				return 0
			}
			partitions[key] = true
			bulks := (docs + in.BulkSize - 1) / in.BulkSize
			docs = min(docs, int64(math.Ceil(float64(bulks)*in.Share/100))*in.BulkSize)
		}
		sum += docs
	}
	return sum
}

// FirstClientEnd is when the first client had sent all its documents; ok is false when the log does not tell. Every
// worker, a process, says in the log what its clients send ("Task-relative clients at index [0-1] will bulk index")
// and, when the last of them has ended, how long that took ("Total run duration"). The clients of a worker draw from
// one reader (PartitionBulkIndexParamSource of osbenchmark/workload/params.py): the first of them ends at most one
// request before the last. The log's times are UTC (osbenchmark/log.py), with milliseconds that are not padded.
func FirstClientEnd(log []byte) (first time.Time, ok bool) {
	ends := map[string]time.Time{} // by process; zero while its clients send
	for _, m := range workerLine.FindAllSubmatch(log, -1) {
		pid := string(m[3])
		if m[4][1] == 'a' { // Task-relative
			ends[pid] = time.Time{}
			continue
		}
		if end, sends := ends[pid]; !sends || !end.IsZero() {
			continue // it ran another task
		}
		at, err := time.Parse("2006-01-02 15:04:05", string(m[1]))
		if err != nil {
			continue
		}
		millis, _ := strconv.Atoi(string(m[2]))
		ends[pid] = at.Add(time.Duration(millis) * time.Millisecond)
	}
	for _, end := range ends {
		if end.IsZero() {
			return time.Time{}, false // a worker's end is missing: it may have been the first
		}
		if !ok || end.Before(first) {
			first, ok = end, true
		}
	}
	return first, ok
}
