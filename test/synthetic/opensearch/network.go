package opensearch

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Network is HTTP without a machine's network: real clients and servers of net/http over pipes in memory, in which a
// test may stop the clock (testing/synctest), as it cannot in a socket. Whatever the host, one handler answers.
type Network struct {
	*http.Transport
	server  *http.Server
	served  chan struct{}
	pending chan net.Conn

	once   sync.Once
	closed chan struct{}
}

// NewNetwork serves the handler until Close.
func NewNetwork(h http.Handler) *Network {
	n := &Network{server: &http.Server{Handler: h}, served: make(chan struct{}), pending: make(chan net.Conn), closed: make(chan struct{})}
	n.Transport = &http.Transport{DialContext: n.dial, MaxIdleConnsPerHost: 256}
	go func() {
		defer close(n.served)
		_ = n.server.Serve(n) // ends when Close closes the listener
	}()
	return n
}

func (n *Network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case n.pending <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Accept makes Network the server's listener.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.pending:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Addr is no address.
func (n *Network) Addr() net.Addr { return &net.UnixAddr{Name: ClusterName, Net: "pipe"} }

// Close ends the listener, not what runs over it; End ends all.
func (n *Network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

// End ends the server and every connection, and waits until it has.
func (n *Network) End() error {
	err := n.server.Close()
	<-n.served
	n.CloseIdleConnections()
	return err
}
