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
	"github.com/knee-bench/knee/internal/load/documents"
)

// filterPath selects the part of a reply that is needed for each document: the status and the error. This part is about a
// seventh of the complete reply. A shorter filter is not possible: the server omits an item without any selected field, and
// then the other items could not be matched to their documents.
const filterPath = "errors,items.*.status,items.*.error.type,items.*.error.reason"

// dialTimeout limits the time for opening a connection, including TLS.
const dialTimeout = 10 * time.Second

// replyBuffer is how many bytes of a reply are read at a time. A buffer of this size fits in the cache of one core.
const replyBuffer = 64 << 10

// endpoint is the target of bulk requests.
type endpoint struct {
	address string      // host:port
	tls     *tls.Config // nil: no TLS
	head    []byte      // common part of the HTTP header of every request; length and signature are appended
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
		u.Host = strings.TrimSuffix(u.Host, ":"+port) // the signed host must have the form that other clients send: without the default port
	}
	if u.Scheme == "https" {
		e.tls = a.TLS()
		e.tls.NextProtos, e.tls.ServerName = []string{"http/1.1"}, u.Hostname()
	}
	if u.Path == "" {
		u.Path = "/" // JoinPath returns a relative path if the path is empty
	}
	e.url = u.JoinPath(url.PathEscape(c.Index), "_bulk")
	e.url.RawQuery = url.Values{"filter_path": {filterPath}}.Encode()
	e.head = fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: knee-agent\r\nAccept: application/json\r\nContent-Type: application/x-ndjson\r\n", e.url.RequestURI(), u.Host)
	if a.User != "" {
		e.head = fmt.Appendf(e.head, "Authorization: Basic %s\r\n", base64.StdEncoding.EncodeToString([]byte(a.User+":"+a.Password)))
	}
	return e, nil
}

// connection is the connection of one worker. It stays open between requests. A request is sent by one system call that
// writes several pieces, so the body is not copied. Replies are parsed by net/http. The client of net/http is not used,
// because it needs additional goroutines and copies of the body.
type connection struct {
	endpoint
	timeout time.Duration // time limit of one request
	conn    net.Conn      // nil: not open
	raw     syscall.RawConn
	reader  *bufio.Reader
	head    []byte
	pieces  net.Buffers
	release func() bool // stops the watching of the context of the current request
}

func newConnection(e endpoint, timeout time.Duration) *connection {
	return &connection{endpoint: e, timeout: timeout, reader: bufio.NewReaderSize(nil, 4<<10)}
}

// open opens the connection if it is not open, or if the server has closed it. Servers and proxies close idle connections. If
// a request is sent over a closed connection, it is not known whether the server executed the request.
func (c *connection) open(ctx context.Context) error {
	if c.conn != nil && c.isClosedByServer() {
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
			return fmt.Errorf("TLS handshake with server %s failed: %w", c.address, err)
		}
		conn = secured
	}
	c.conn, c.raw = conn, raw
	c.reader.Reset(conn)
	return nil
}

// isClosedByServer reports whether the server has closed the connection, even if unread data is left.
func (c *connection) isClosedByServer() bool {
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

// errUnsent is the error of a request that did not reach the server completely. Such a request had no effect.
var errUnsent = errors.New("the bulk request could not be sent")

// earlyReply is how long post waits for the reply of a server that stopped reading before the end of the request.
const earlyReply = time.Second

// post sends a bulk request and returns the status and header of the reply. The caller must first call writeHead. After post,
// it must read the body of the reply to its end, and then call done. The request ends if ctx is cancelled.
func (c *connection) post(ctx context.Context, b documents.Bulk) (*http.Response, error) {
	if err := c.open(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	if err := c.conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		c.close()
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	conn := c.conn
	c.release = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	c.pieces = append(append(c.pieces[:0], c.head), b.Parts...)
	pieces := c.pieces // a copy, because WriteTo changes the slice
	_, err := pieces.WriteTo(c.conn)
	if err != nil {
		// A server that refuses the request may reply immediately and stop reading.
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

// writeHead prepares the HTTP header of a request. It is separate from post, because a signature needs to read the whole
// body. This takes time of the loader, which must not count as time of the server.
func (c *connection) writeHead(ctx context.Context, b documents.Bulk) error {
	c.head = append(c.head[:0], c.endpoint.head...)
	if c.sign != nil {
		digest := sha256.New()
		for _, part := range b.Parts {
			digest.Write(part)
		}
		request := (&http.Request{Method: http.MethodPost, URL: c.url, Host: c.url.Host, ContentLength: b.Bytes, Header: http.Header{}}).WithContext(ctx)
		if err := c.sign.Sign(request, hex.EncodeToString(digest.Sum(nil)), time.Now()); err != nil {
			return err
		}
		for name := range request.Header {
			c.head = fmt.Appendf(c.head, "%s: %s\r\n", name, request.Header.Get(name))
		}
	}
	c.head = append(c.head, "Content-Length: "...)
	c.head = strconv.AppendInt(c.head, b.Bytes, 10)
	c.head = append(c.head, "\r\n\r\n"...)
	return nil
}

// done ends a request. It keeps the connection open for the next request. It closes the connection if the parameter useless
// is true, or if the context of the request was cancelled.
func (c *connection) done(useless bool) {
	kept := c.release == nil || c.release()
	c.release = nil
	if useless || !kept {
		c.close()
	}
}

// response reads the status and the header of a reply.
func (c *connection) response() (*http.Response, error) {
	for {
		response, err := http.ReadResponse(c.reader, nil)
		if err != nil {
			return nil, err
		}
		if response.StatusCode >= http.StatusOK { // a lower status is an interim reply, such as 100 Continue
			return response, nil
		}
	}
}
