package loaders

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// A pod joins with a GET of joinPath?member=JSON. The request upgrades the connection to the protocol that the constant upgrade names.
// The upgraded connection becomes a link.
const (
	joinPath = "/v1/fleet"
	upgrade  = "knee-fleet/1"
)

// joining is the identity that a member sends to the coordinator.
type joining struct {
	Attempt record.Attempt `json:"trial"`
	Loaders int            `json:"loaders"`
	Index   int            `json:"index"`
	Host    string         `json:"host,omitempty"`
}

// Kinds of messages.
const (
	kindBeat    = "beat"    // in both directions: a sign of life
	kindReady   = "ready"   // from a member: it is ready to begin
	kindStart   = "start"   // to a member: begin the load
	kindStarted = "started" // from a member: its load has begun
	kindShare   = "share"   // from a member: its load succeeded; Data holds its share
	kindFailed  = "failed"  // from a member: its load failed; Reason and Message are set
	kindAsk     = "ask"     // to a member: requests a result after the load ended; the member replies with kindAnswer
	kindAnswer  = "answer"  // from a member: the reply to kindAsk
	kindAbort   = "abort"   // to a member: the load failed; end it
	kindEnd     = "end"     // to a member: end; the coordinator does not need the member any more
)

// message is one message on a link. It is sent as its length in 4 bytes, followed by JSON.
type message struct {
	Kind    string          `json:"kind"`
	Reason  string          `json:"reason,omitempty"`  // set in kindFailed and kindAbort: a Reason of package record
	Message string          `json:"message,omitempty"` // set in kindFailed and kindAbort: the error text
	Data    json.RawMessage `json:"data,omitempty"`
}

// Limits for received data.
const (
	maxMessage = 1 << 20  // bytes of a message
	maxFailure = 8 << 10  // bytes of the text of a failure, so that it fits into a message for the other members
	maxRefusal = 4 << 10  // bytes of the HTTP response that refuses a pod
	maxHeader  = 16 << 10 // bytes of the HTTP header of a request
)

// link is one side of a connection between a member and its coordinator.
type link struct {
	conn    net.Conn
	in      *bufio.Reader
	beat    time.Duration
	silence time.Duration

	writing sync.Mutex
}

// Errors that end a link or refuse a message.
var (
	errSilent  = errors.New("no message received")
	errTurn    = errors.New("loader pod 0 expects another message in this phase of the load")
	errTooLong = errors.New("a message between loader pods is too long")
)

// send writes one message. It fails if the other side accepts no data for too long.
func (l *link) send(m message) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(data) > maxMessage {
		return fmt.Errorf("%w: the message of kind %s has %d bytes, but the limit is %d bytes", errTooLong, m.Kind, len(data), maxMessage)
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(data)), uint32(len(data)))
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.conn.SetWriteDeadline(time.Now().Add(l.silence)); err != nil {
		return err
	}
	_, err = l.conn.Write(append(frame, data...))
	return err
}

// receive returns the next message that is not a beat.
func (l *link) receive() (message, error) {
	for {
		m, err := l.next()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return message{}, fmt.Errorf("%w for %s", errSilent, l.silence)
		}
		if err != nil || m.Kind != kindBeat {
			return m, err
		}
	}
}

func (l *link) next() (message, error) {
	if err := l.conn.SetReadDeadline(time.Now().Add(l.silence)); err != nil {
		return message{}, err
	}
	var size [4]byte
	if _, err := io.ReadFull(l.in, size[:]); err != nil {
		return message{}, err
	}
	length := binary.BigEndian.Uint32(size[:])
	if length > maxMessage {
		return message{}, fmt.Errorf("%w: the received message has %d bytes, but the limit is %d bytes", errTooLong, length, maxMessage)
	}
	data := make([]byte, length)
	if _, err := io.ReadFull(l.in, data); err != nil {
		return message{}, err
	}
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		return message{}, fmt.Errorf("cannot decode a message between loader pods: %w", err)
	}
	return m, nil
}

// sendBeats sends signs of life until the context ends. It ignores errors, because receive also detects a broken connection.
func (l *link) sendBeats(ctx context.Context) {
	tick := time.NewTicker(l.beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if l.send(message{Kind: kindBeat}) != nil {
				return
			}
		}
	}
}

// finish ends the sending side so that the other side can still read the last message. It does not close the connection:
// closing a connection that holds unread data would reset it.
func (l *link) finish() {
	if half, ok := l.conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // fails on a broken connection, which does not matter
	}
}

// describeEnd describes, for an error message, why a link ended.
func describeEnd(err error) string {
	switch {
	case errors.Is(err, errSilent), errors.Is(err, errTooLong), errors.Is(err, errTurn):
		return err.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed"
	}
	return fmt.Sprintf("the connection broke: %v", err)
}
