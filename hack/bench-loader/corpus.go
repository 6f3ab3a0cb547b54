package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// corpus is documents of one kind.
type corpus struct {
	name    string
	file    string // newline-delimited JSON
	dataset string // Knee's name for them; empty: Knee reads the file too
}

// capture answers as the sink does, and keeps the first bulk request.
type capture struct {
	once      sync.Once
	query     url.Values
	documents [][]byte
	action    int // bytes of its action line
}

func (c *capture) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	r.Body = io.NopCloser(io.TeeReader(r.Body, &body))
	newSink().ServeHTTP(w, r)
	lines := bytes.SplitAfter(body.Bytes(), newline)
	if len(lines) < 2 {
		return
	}
	c.once.Do(func() {
		c.query, c.action = r.URL.Query(), len(lines[0])
		for i := 1; i < len(lines); i += 2 {
			c.documents = append(c.documents, lines[i])
		}
	})
}

// captured lets a program load for a second and gives its first bulk request.
func captured(ctx context.Context, p program, l job) (*capture, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a listener of the loopback does not wait
	if err != nil {
		return nil, err
	}
	var c capture
	server := http.Server{Handler: &c, ReadHeaderTimeout: requestTimeout}
	defer func() { _ = server.Close() }()
	go func() { _ = server.Serve(listener) }()
	l.url, l.time = "http://"+listener.Addr().String(), time.Second
	if _, err := p.run(ctx, l); err != nil {
		return nil, err
	}
	if len(c.documents) == 0 {
		return nil, fmt.Errorf("%s has sent no documents", p.name)
	}
	return &c, nil
}

// smallDocuments are those of Knee's dataset small. The other programs get them from a file, into which the documents
// of one bulk request of Knee's are written.
func (b bench) smallDocuments(ctx context.Context) (corpus, error) {
	out := corpus{dataset: "small", file: filepath.Join(b.dir, "small.json")}
	l := b.job()
	l.dataset = out.dataset
	c, err := captured(ctx, b.kneeProgram(), l)
	if err != nil {
		return out, err
	}
	content := bytes.Join(c.documents, nil)
	out.name = fmt.Sprintf("small, %.0f B with its action line", float64(len(content))/float64(len(c.documents))+float64(c.action))
	return out, os.WriteFile(out.file, content, 0o600)
}

// Of the larger documents.
const (
	largerBytes = 500 // without newline and action line
	largerCount = 20_000
)

// largerDocuments are made up from a fixed seed: a log line's fields, filled up to the size.
func largerDocuments(dir string) (corpus, error) {
	c := corpus{name: fmt.Sprintf("%d B and an action line", largerBytes), file: filepath.Join(dir, "larger.json")}
	f, err := os.Create(c.file)
	if err != nil {
		return c, err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	random := rand.New(rand.NewPCG(5, 5))
	const end = `"}`
	for i := range largerCount {
		line := fmt.Appendf(nil, `{"@timestamp":%d,"clientip":"10.%d.%d.%d","request":"GET /images/%08x.gif","status":%d,"size":%d,"message":"`,
			1_700_000_000_000+int64(i), random.IntN(256), random.IntN(256), random.IntN(256), random.Uint32(), 200+random.IntN(300), random.IntN(1e6))
		for len(line) < largerBytes-len(end) {
			line = append(line, "abcdefghijklmnopqrstuvwxyz      "[random.IntN(32)])
		}
		line = append(append(line, end...), '\n')
		if _, err := w.Write(line); err != nil {
			return c, err
		}
	}
	return c, w.Flush()
}

// freePorts are ports of the loopback that nobody listens on.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a listener of the loopback does not wait
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
