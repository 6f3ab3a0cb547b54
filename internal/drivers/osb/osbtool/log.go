package osbtool

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

// maxTelling limits the part of the program's log that is kept, in bytes. Each worker and task needs a few hundred bytes.
const maxTelling = 32 << 20

// ReadLog reads the program's log and returns only the lines that the functions below need. It must read the complete log.
// The lines about the documents of each worker are near the beginning, and the lines about the end of each worker are near
// the end.
func ReadLog(log io.Reader) ([]byte, error) {
	var kept []byte
	lines := bufio.NewReaderSize(log, 64<<10) // 64 KiB: longer than any needed line
	whole := true                             // whether the next read is the start of a line
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

// RenderedWorkloadPath returns the path of the rendered workload from the program's log; "" if the log does not contain it.
func RenderedWorkloadPath(log []byte) string {
	m := renderedLine.FindSubmatch(log)
	if m == nil {
		return ""
	}
	return string(m[1])
}

// DocumentsToSend returns how many documents the ingest tasks had to send. It uses the partitions that the program's workers
// logged. It returns 0 if the number is not known.
func DocumentsToSend(log []byte, in Ingest) int64 {
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
			// With an ingest-percentage below 100, a worker stops after in.Share percent of its bulk requests, counted over
			// all files. So the number of documents is known only for a single task with a single file and a known bulk size.
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

// FirstClientEnd returns when the first client had sent all its documents. ok is false if the log does not contain this time.
//
// Every worker is a process. A worker logs the documents of its clients ("Task-relative clients at index [0-1] will bulk
// index"). When its last client has ended, the worker logs the duration ("Total run duration"). The clients of a worker share
// one reader (PartitionBulkIndexParamSource of osbenchmark/workload/params.py). So the first client of a worker ends no more
// than one request before the last client of this worker. The log's times are UTC (osbenchmark/log.py), and the milliseconds
// have no leading zeros.
func FirstClientEnd(log []byte) (first time.Time, ok bool) {
	ends := map[string]time.Time{} // key: process ID; zero while the clients of the process send
	for _, m := range workerLine.FindAllSubmatch(log, -1) {
		pid := string(m[3])
		if m[4][1] == 'a' { // the line begins with "Task-relative"
			ends[pid] = time.Time{}
			continue
		}
		if end, sends := ends[pid]; !sends || !end.IsZero() {
			continue // this worker process ran a task that is not a bulk load
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
			return time.Time{}, false // the log lacks the end of a worker, and this worker may have ended first
		}
		if !ok || end.Before(first) {
			first, ok = end, true
		}
	}
	return first, ok
}
