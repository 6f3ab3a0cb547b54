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

// corpus holds documents of one kind.
type corpus struct {
	name    string
	file    string // newline-delimited JSON
	dataset string // name of Knee's dataset with these documents; empty: Knee's loader reads the file
}

// capture replies like the sink and keeps the first bulk request.
type capture struct {
	once      sync.Once
	query     url.Values
	documents [][]byte
	action    int // size of an action line, bytes
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

// captureRequest runs a program for a second and returns the program's first bulk request.
func captureRequest(ctx context.Context, p program, l job) (*capture, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // listening on the loopback address does not block
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
		return nil, fmt.Errorf("%s sent no documents", p.name)
	}
	return &c, nil
}

// smallDocuments returns the documents of Knee's dataset small. It also writes the documents of one bulk request of
// Knee's loader to a file, for the other programs.
func (b bench) smallDocuments(ctx context.Context) (corpus, error) {
	out := corpus{dataset: "small", file: filepath.Join(b.dir, "small.json")}
	l := b.job()
	l.dataset = out.dataset
	c, err := captureRequest(ctx, b.kneeProgram(), l)
	if err != nil {
		return out, err
	}
	content := bytes.Join(c.documents, nil)
	out.name = fmt.Sprintf("small, %.0f B with its action line", float64(len(content))/float64(len(c.documents))+float64(c.action))
	return out, os.WriteFile(out.file, content, 0o600)
}

// largerBytes and largerCount are the size and the number of the larger documents.
const (
	largerBytes = 500 // without newline and action line
	largerCount = 20_000
)

// largerDocuments writes log lines to a file. They are made from a fixed seed and padded to largerBytes.
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

// freePorts returns free ports of the loopback address.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // listening on the loopback address does not block
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
