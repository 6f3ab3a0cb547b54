package fleet

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

// The request that becomes a link: GET joinPath?member=JSON with this upgrade.
const (
	joinPath = "/v1/fleet"
	upgrade  = "knee-fleet/1"
)

// joining is what a member says of itself.
type joining struct {
	Trial   record.Trial `json:"trial"`
	Loaders int          `json:"loaders"`
	Index   int          `json:"index"`
	Host    string       `json:"host,omitempty"`
}

// The kinds of messages.
const (
	kindBeat    = "beat"    // both ways: a sign of life
	kindReady   = "ready"   // up: the member can begin
	kindStart   = "start"   // down: begin
	kindStarted = "started" // up: the answer to it
	kindShare   = "share"   // up: the member's load ended well; Data is its share
	kindFailed  = "failed"  // up: the member's load failed
	kindAsk     = "ask"     // down: a question about a load that ended
	kindAnswer  = "answer"  // up: the answer to it
	kindAbort   = "abort"   // down: the load failed, end
	kindEnd     = "end"     // down: the member is needed no longer
)

// message is what goes over a link: its length in 4 bytes, then JSON.
type message struct {
	Kind    string          `json:"kind"`
	Reason  string          `json:"reason,omitempty"`  // of failed and abort: one of the record's
	Message string          `json:"message,omitempty"` // of the same
	Data    json.RawMessage `json:"data,omitempty"`
}

// Bounds of what is read.
const (
	maxMessage = 1 << 20  // bytes of a message
	maxRefusal = 4 << 10  // bytes of the answer to who is refused
	maxHeader  = 16 << 10 // bytes of a request's head
)

// link is one side of a connection between a member and its coordinator.
type link struct {
	conn    net.Conn
	in      *bufio.Reader
	beat    time.Duration
	silence time.Duration

	writing sync.Mutex
}

// Why a link ends, or a message is not sent.
var (
	errSilent  = errors.New("no sign of life")
	errTurn    = errors.New("out of turn")
	errTooLong = errors.New("message too long")
)

// send writes one message. It gives up where the other side takes nothing for too long.
func (l *link) send(m message) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(data) > maxMessage {
		return fmt.Errorf("%w: a %s of %d bytes is more than the %d that may be sent", errTooLong, m.Kind, len(data), maxMessage)
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

// receive gives the next message that is no beat.
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
		return message{}, fmt.Errorf("%w: %d bytes are more than the %d that may be sent", errTooLong, length, maxMessage)
	}
	data := make([]byte, length)
	if _, err := io.ReadFull(l.in, data); err != nil {
		return message{}, err
	}
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		return message{}, fmt.Errorf("a message that cannot be read: %w", err)
	}
	return m, nil
}

// beats sends signs of life until the context ends. Its errors are receive's to find.
func (l *link) beats(ctx context.Context) {
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

// finish ends the sending side, so that what was sent last still arrives: a connection that is closed while something
// unread lies in it is cut.
func (l *link) finish() {
	if half, ok := l.conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // one that is cut already needs none
	}
}

// broken is why a link ended, for a person.
func broken(err error) string {
	switch {
	case errors.Is(err, errSilent), errors.Is(err, errTooLong), errors.Is(err, errTurn):
		return err.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "its connection was closed"
	}
	return fmt.Sprintf("its connection broke: %v", err)
}
