package load

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// mockReply is the reply of the mock server to every request. It acknowledges no document.
const mockReply = `{"took":0,"errors":false,"items":[]}`

// Mock starts a server in this process. The server reads every request to its end and always sends the same reply. It is not
// an OpenSearch and stores nothing. A load against it measures the limit of the loader itself, with the server on the same
// cores.
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
				return // the client has closed the connection
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, mockReply)
		}),
	}
	var group sync.WaitGroup
	group.Go(func() { _ = server.Serve(listener) })
	return "http://" + listener.Addr().String(), func() { _ = server.Close(); group.Wait() }, nil
}
