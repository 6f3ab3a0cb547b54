package supervisor

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"time"
)

// tunnel forwards connections from the host's listener to the API server in this network namespace. The port on the
// host stays open while the API server restarts.
func tunnel(listener net.Listener) {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	for {
		outer, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // for example too many open files, which may pass
			log.Printf("tunnel: %v", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		go func() {
			defer func() { _ = outer.Close() }()
			inner, err := dialer.DialContext(context.Background(), "tcp", apiAddress)
			if err != nil {
				return // the client's connection is closed, as if the server were down
			}
			defer func() { _ = inner.Close() }()
			join(outer, inner)
		}()
	}
}

// join copies data in both directions until both sides have ended. If one side closes its sending direction, join
// passes this on and continues with the other direction.
func join(a, b net.Conn) {
	done := make(chan struct{}, 2)
	pipe := func(to, from net.Conn) {
		if _, err := io.Copy(to, from); err != nil {
			// After an error, close both connections.
			_ = to.Close()
			_ = from.Close()
		} else if half, ok := to.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // fails only if the connection is already closed
		}
		done <- struct{}{}
	}
	go pipe(a, b)
	go pipe(b, a)
	<-done
	<-done
}
