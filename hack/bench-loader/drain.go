package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// serveDrain reads and discards the bytes of every connection. It never replies.
func serveDrain(listener net.Listener) error {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer func() { _ = conn.Close() }()
			buffer := make([]byte, readBytes)
			for {
				if _, err := conn.Read(buffer); err != nil {
					return
				}
			}
		}()
	}
}

// send writes the same bulk request over several connections for some time. No loader can be faster: the rate of send
// is the limit of the kernel.
func send(ctx context.Context, o senderOptions) error {
	request, documents, err := prebuilt(o.file, o.flushBytes)
	if err != nil {
		return err
	}
	var sent atomic.Int64
	start := time.Now()
	failures := make([]error, o.workers)
	var workers sync.WaitGroup
	for i := range o.workers {
		workers.Go(func() {
			failures[i] = write(ctx, o.address, request, func() bool {
				sent.Add(int64(documents))
				return time.Since(start) < o.time
			})
		})
	}
	workers.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(programResult{Documents: sent.Load(), Seconds: time.Since(start).Seconds()})
}

// write writes the request over one connection again and again while more returns true.
func write(ctx context.Context, address string, request []byte, more func() bool) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		if !more() {
			return nil
		}
	}
}

type senderOptions struct {
	address, file string
	flushBytes    int
	workers       int
	time          time.Duration
}

// prebuilt returns a bulk request of at least size bytes, made from the documents of a file.
func prebuilt(file string, size int) (request []byte, documents int, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, 0, err
	}
	lines := bytes.SplitAfter(content, newline)
	if len(lines[0]) == 0 {
		return nil, 0, fmt.Errorf("%s: %w", file, io.ErrUnexpectedEOF)
	}
	for len(request) < size {
		line := lines[documents%len(lines)]
		if len(line) == 0 {
			return nil, 0, errors.New("the sender's file must hold more than one bulk request's documents")
		}
		request = append(append(request, actionLine...), line...)
		documents++
	}
	return request, documents, nil
}

// actionLine is the action line before each document.
const actionLine = `{"index":{}}` + "\n"
