package load

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/knee-bench/knee/internal/access"
)

// filterPath keeps of a reply what tells of each document: its status and, where it was not taken, why. That is a seventh
// of the whole reply. Less cannot be asked for: an item of which nothing is left is left out itself, so that nobody could
// tell which documents the others are.
const filterPath = "errors,items.*.status,items.*.error.type,items.*.error.reason"

// dialTimeout is how long a connection may take to be made, TLS included.
const dialTimeout = 10 * time.Second

// replyBuffer is how much of a reply is read at a time: what a core's own cache holds.
const replyBuffer = 64 << 10

// endpoint is where bulk requests go.
type endpoint struct {
	address string      // host:port
	tls     *tls.Config // nil: plain
	head    []byte      // of every request, up to what differs: its length and, where they are signed, its signature
	url     *url.URL
	sign    *access.SigV4 // nil: requests are not signed
}

func newEndpoint(c Config, a access.Access) (endpoint, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return endpoint{}, err
	}
	e := endpoint{address: u.Host, sign: a.SigV4}
	port := "80"
	if u.Scheme == "https" {
		port = "443"
	}
	switch u.Port() {
	case "":
		e.address = net.JoinHostPort(u.Hostname(), port)
	case port:
		u.Host = strings.TrimSuffix(u.Host, ":"+port) // so it is signed, and other clients send it
	}
	if u.Scheme == "https" {
		e.tls = a.TLS()
		e.tls.NextProtos, e.tls.ServerName = []string{"http/1.1"}, u.Hostname()
	}
	if u.Path == "" {
		u.Path = "/" // of a URL without a path, what JoinPath gives is relative
	}
	e.url = u.JoinPath(url.PathEscape(c.Index), "_bulk")
	e.url.RawQuery = url.Values{"filter_path": {filterPath}}.Encode()
	e.head = fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: knee-agent\r\nAccept: application/json\r\nContent-Type: application/x-ndjson\r\n", e.url.RequestURI(), u.Host)
	if a.User != "" {
		e.head = fmt.Appendf(e.head, "Authorization: Basic %s\r\n", base64.StdEncoding.EncodeToString([]byte(a.User+":"+a.Password)))
	}
	return e, nil
}

// connection is one worker's, kept open from request to request. Requests are written by one system call of many pieces
// and without a copy of the body, replies are read by net/http's parser: a goroutine for each, and the body's copies, are
// what its client would cost on top.
type connection struct {
	endpoint
	timeout time.Duration // of one request
	conn    net.Conn      // nil: not open
	raw     syscall.RawConn
	reader  *bufio.Reader
	head    []byte
	pieces  net.Buffers
	release func() bool // of the context of the request under way
}

func newConnection(e endpoint, timeout time.Duration) *connection {
	return &connection{endpoint: e, timeout: timeout, reader: bufio.NewReaderSize(nil, 4<<10)}
}

// open makes the connection when there is none, or none any more: servers, and what lies before them, end connections that
// nothing is asked over for a while. What is sent over such a one is lost, and nobody tells whether it came.
func (c *connection) open(ctx context.Context) error {
	if c.conn != nil && c.gone() {
		c.close()
	}
	if c.conn != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	dialer := &net.Dialer{}
	conn, err := dialer.DialContext(ctx, "tcp", c.address)
	if err != nil {
		return err
	}
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		_ = conn.Close()
		return err
	}
	if c.tls != nil {
		secured := tls.Client(conn, c.tls)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return fmt.Errorf("TLS with %s: %w", c.address, err)
		}
		conn = secured
	}
	c.conn, c.raw = conn, raw
	c.reader.Reset(conn)
	return nil
}

// gone says whether the server has ended the connection, whatever of it is still to be read.
func (c *connection) gone() bool {
	const ended = unix.POLLRDHUP | unix.POLLHUP | unix.POLLERR
	gone := false
	err := c.raw.Control(func(fd uintptr) {
		look := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(look, 0)
		gone = err == nil && n > 0 && look[0].Revents&ended != 0
	})
	return gone || err != nil
}

func (c *connection) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// errUnsent is that of a request which did not reach the server in whole, so that it did nothing.
var errUnsent = errors.New("the request could not be sent")

// earlyReply is how long to wait for the reply of a server that stopped reading before the request's end.
const earlyReply = time.Second

// post sends a bulk request, whose head writeHead has made, and gives the head of its reply, whose body is to be read to its
// end before done is called. The end of ctx ends the request.
func (c *connection) post(ctx context.Context, b bulk) (*http.Response, error) {
	if err := c.open(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	if err := c.conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		c.close()
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	conn := c.conn
	c.release = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	c.pieces = append(append(c.pieces[:0], c.head), b.parts...)
	pieces := c.pieces // writing consumes the slice
	_, err := pieces.WriteTo(c.conn)
	if err != nil {
		// A server that does not want the request may say so at once and stop reading.
		unsent := fmt.Errorf("%w: %w", errUnsent, err)
		if c.conn.SetDeadline(time.Now().Add(earlyReply)) != nil {
			return nil, unsent
		}
		response, err := c.response()
		if err != nil || response.StatusCode < http.StatusBadRequest {
			return nil, unsent
		}
		response.Close = true
		return response, nil
	}
	return c.response()
}

// writeHead makes the head of a request. To sign it takes a look at the whole body, which is the loader's time and not the
// server's.
func (c *connection) writeHead(ctx context.Context, b bulk) error {
	c.head = append(c.head[:0], c.endpoint.head...)
	if c.sign != nil {
		digest := sha256.New()
		for _, part := range b.parts {
			digest.Write(part)
		}
		request := (&http.Request{Method: http.MethodPost, URL: c.url, Host: c.url.Host, ContentLength: b.bytes, Header: http.Header{}}).WithContext(ctx)
		if err := c.sign.Sign(request, hex.EncodeToString(digest.Sum(nil)), time.Now()); err != nil {
			return err
		}
		for name := range request.Header {
			c.head = fmt.Appendf(c.head, "%s: %s\r\n", name, request.Header.Get(name))
		}
	}
	c.head = append(c.head, "Content-Length: "...)
	c.head = strconv.AppendInt(c.head, b.bytes, 10)
	c.head = append(c.head, "\r\n\r\n"...)
	return nil
}

// done ends a request; the connection is kept for the next one unless it is of no more use.
func (c *connection) done(useless bool) {
	kept := c.release == nil || c.release()
	c.release = nil
	if useless || !kept {
		c.close()
	}
}

// response reads the head of a reply.
func (c *connection) response() (*http.Response, error) {
	for {
		response, err := http.ReadResponse(c.reader, nil)
		if err != nil {
			return nil, err
		}
		if response.StatusCode >= http.StatusOK { // else an interim one, such as 100 Continue
			return response, nil
		}
	}
}
