// Package gclog parses the garbage collection log of a JVM (unified logging, JEP 158 and 271). The lines must have the
// decorations of OpenSearch's default jvm.options: utctime, level, pid, tags. The package reads the pauses of every collector
// of OpenJDK. It reads survivor sizes and promotions of the collectors with sized generations: G1, Parallel and Serial.
package gclog

import (
	"bytes"
	"strconv"
	"time"
)

// Kind describes which part of the heap a pause collected.
type Kind uint8

// Values of Kind. Other is a pause that itself collects nothing, such as remark, clean-up, and the marking pauses of
// concurrent collectors.
const (
	Other Kind = iota
	Young
	Mixed
	Full
)

// String returns the name of the kind that output files use.
func (k Kind) String() string { return [...]string{"other", "young", "mixed", "full"}[k] }

// Pause is one stop-the-world pause.
type Pause struct {
	At            time.Time // end of the pause
	Kind          Kind
	Name          string // as in the log, for example Pause Young (Normal) (G1 Evacuation Pause)
	Millis        float64
	SurvivorBytes int64 // survivor space after the pause; -1: not in the log
	PromotedBytes int64 // growth of the old generation in a young pause; -1: not in the log
}

// Parser parses a log line by line. It remembers facts that the log reports only once, near its beginning. It is not safe for
// concurrent use.
type Parser struct {
	region int64 // G1's region size in bytes; 0: not known
	heap   heap  // figures of the current collection
	names  map[string]string
}

// heap holds the figures of a collection that the log reports before the end of the pause.
type heap struct {
	id                      int64 // number of the collection in the log
	survivor                int64 // bytes after the collection
	old                     int64 // change of the old generation in bytes
	survivorKnown, oldKnown bool
}

const layout = "2006-01-02T15:04:05.000-0700"

// Line parses one line without its line end. It returns a pause if the line reports the end of a pause.
func (p *Parser) Line(line []byte) (Pause, bool) {
	stamp, message, ok := decorations(line)
	if !ok {
		return Pause{}, false
	}
	if size, found := bytes.CutPrefix(message, []byte("Heap Region Size: ")); found {
		p.region, _ = size64(size)
		return Pause{}, false
	}
	id, message, ok := collection(message)
	if !ok {
		return Pause{}, false
	}
	if id != p.heap.id {
		p.heap = heap{id: id}
	}
	name, millis, ok := pause(message)
	if !ok {
		p.note(message)
		return Pause{}, false
	}
	at, err := time.Parse(layout, string(stamp))
	if err != nil {
		return Pause{}, false
	}
	out := Pause{At: at, Kind: kind(name), Name: p.intern(name), Millis: millis, SurvivorBytes: -1, PromotedBytes: -1}
	if out.Kind != Other && p.heap.survivorKnown {
		out.SurvivorBytes = p.heap.survivor
	}
	if out.Kind == Young && p.heap.oldKnown {
		out.PromotedBytes = max(0, p.heap.old)
	}
	return out, true
}

// intern returns a shared copy of a name. Only a few different names occur in thousands of pauses.
func (p *Parser) intern(name []byte) string {
	if s, known := p.names[string(name)]; known {
		return s
	}
	if p.names == nil || len(p.names) > 100 {
		p.names = map[string]string{}
	}
	s := string(name)
	p.names[s] = s
	return s
}

// note records the figures of the heap that a line reports.
func (p *Parser) note(message []byte) {
	switch {
	case bytes.HasPrefix(message, []byte("Survivor regions: ")): // of G1, for example 13->23(77)
		if _, after, ok := arrow(message[len("Survivor regions: "):]); ok && p.region > 0 && after < 1<<40/p.region {
			p.heap.survivor, p.heap.survivorKnown = after*p.region, true
		}
	case bytes.HasPrefix(message, []byte("Old regions: ")): // of G1, for example 55->54
		if before, after, ok := arrow(message[len("Old regions: "):]); ok && p.region > 0 && max(before, after) < 1<<40/p.region {
			p.heap.old, p.heap.oldKnown = (after-before)*p.region, true
		}
	case bytes.HasPrefix(message, []byte("PSYoungGen: ")), bytes.HasPrefix(message, []byte("DefNew: ")):
		// example: ... From: 0K(5120K)->5097K(5120K)
		if _, from, found := bytes.Cut(message, []byte("From: ")); found {
			if _, after, ok := arrow(from); ok {
				p.heap.survivor, p.heap.survivorKnown = after, true
			}
		}
	case bytes.HasPrefix(message, []byte("ParOldGen: ")), bytes.HasPrefix(message, []byte("Tenured: ")):
		// example: 8K(86016K)->16K(86016K)
		_, change, _ := bytes.Cut(message, []byte(": "))
		if before, after, ok := arrow(change); ok {
			p.heap.old, p.heap.oldKnown = after-before, true
		}
	}
}

// decorations splits a line "[time][...]...[tags] message" into the time and the message.
func decorations(line []byte) (stamp, message []byte, ok bool) {
	for n := 0; len(line) > 0 && line[0] == '['; n++ {
		end := bytes.IndexByte(line, ']')
		if end < 0 {
			return nil, nil, false
		}
		if n == 0 {
			stamp = line[1:end]
		}
		line = line[end+1:]
	}
	if stamp == nil || len(line) == 0 || line[0] != ' ' {
		return nil, nil, false
	}
	return stamp, bytes.TrimSpace(line), true
}

// collection splits the prefix "GC(37) " from a message. id is the number of the collection.
func collection(message []byte) (id int64, rest []byte, ok bool) {
	rest, found := bytes.CutPrefix(message, []byte("GC("))
	if !found {
		return 0, nil, false
	}
	number, rest, found := bytes.Cut(rest, []byte(") "))
	if !found {
		return 0, nil, false
	}
	id, err := strconv.ParseInt(string(number), 10, 64)
	return id, bytes.TrimSpace(rest), err == nil
}

// pause parses the end of a pause, such as "Pause Young (Normal) (G1 Evacuation Pause) 670M->78M(1024M) 7.529ms". It removes
// the prefix "y: ", "Y: " or "O: " of generational ZGC.
func pause(message []byte) (name []byte, millis float64, ok bool) {
	if len(message) > 3 && message[1] == ':' && message[2] == ' ' {
		message = message[3:]
	}
	if !bytes.HasPrefix(message, []byte("Pause ")) || !bytes.HasSuffix(message, []byte("ms")) {
		return nil, 0, false
	}
	last := bytes.LastIndexByte(message, ' ')
	millis, err := strconv.ParseFloat(string(message[last+1:len(message)-2]), 64)
	if err != nil || !(millis >= 0 && millis < 1e9) {
		return nil, 0, false
	}
	name = message[:last]
	if at := bytes.LastIndexByte(name, ' '); at > 0 && bytes.Contains(name[at:], []byte("->")) {
		name = name[:at]
	}
	return name, millis, true
}

func kind(name []byte) Kind {
	switch {
	case bytes.HasPrefix(name, []byte("Pause Young")) && bytes.Contains(name, []byte("(Mixed)")):
		return Mixed
	case bytes.HasPrefix(name, []byte("Pause Young")):
		return Young
	case bytes.HasPrefix(name, []byte("Pause Full")):
		return Full
	}
	return Other
}

// arrow parses "13->23(77)", "55->54" or "0K(5120K)->5097K(5120K)". The values are numbers of regions, or bytes if they have
// a unit.
func arrow(s []byte) (before, after int64, ok bool) {
	left, right, found := bytes.Cut(s, []byte("->"))
	if !found {
		return 0, 0, false
	}
	before, ok1 := size64(left)
	after, ok2 := size64(right)
	return before, after, ok1 && ok2
}

// size64 parses the number at the beginning of a text, with its unit if there is one.
func size64(s []byte) (int64, bool) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	value, err := strconv.ParseInt(string(s[:n]), 10, 64)
	if err != nil {
		return 0, false
	}
	shift := 0
	if n < len(s) {
		shift = map[byte]int{'K': 10, 'M': 20, 'G': 30}[s[n]]
	}
	if value > 1<<62>>shift {
		return 0, false
	}
	return value << shift, true
}
