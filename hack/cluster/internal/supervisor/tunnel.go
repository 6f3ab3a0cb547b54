package supervisor

import (
	"errors"
	"io"
	"log"
	"net"
	"time"
)

// tunnel connects what comes in on the host's listener to the API server in
// this network namespace. It is not a part of the API server, so that the port
// stays the host's while the API server is restarted.
func tunnel(listener net.Listener) {
	for {
		outer, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, say: it passes
			log.Printf("tunnel: %v", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		go func() {
			defer outer.Close()
			inner, err := net.DialTimeout("tcp", apiAddress, 10*time.Second)
			if err != nil {
				return // the client sees its connection end, as with a dead server
			}
			defer inner.Close()
			join(outer, inner)
		}()
	}
}

// join copies both ways until both sides are done. Each end of a stream is
// passed on by itself: the other direction may still have something to say.
func join(a, b net.Conn) {
	done := make(chan struct{}, 2)
	pipe := func(to, from net.Conn) {
		if _, err := io.Copy(to, from); err != nil {
			// A broken connection is broken in both directions.
			to.Close()
			from.Close()
		} else if half, ok := to.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // fails only when it is closed already
		}
		done <- struct{}{}
	}
	go pipe(a, b)
	go pipe(b, a)
	<-done
	<-done
}
