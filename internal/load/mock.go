package load

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// mockReply is what the mock answers to any request. It acknowledges no document.
const mockReply = `{"took":0,"errors":false,"items":[]}`

// Mock starts a server in this process that reads every request to its end and gives always the same reply: what is loaded
// then is the loader's own limit, with the server on the same cores. It is no OpenSearch and stores nothing.
func Mock(ctx context.Context) (url string, stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	buffers := sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			buffer := buffers.Get().(*[]byte)
			defer buffers.Put(buffer)
			if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, r.Body, *buffer); err != nil {
				return // the client has gone
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, mockReply)
		}),
	}
	var group sync.WaitGroup
	group.Go(func() { _ = server.Serve(listener) })
	return "http://" + listener.Addr().String(), func() { _ = server.Close(); group.Wait() }, nil
}
