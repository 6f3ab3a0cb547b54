package load

import (
	"bufio"
	"bytes"
	"compress/bzip2"

	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// heldBytes is how much of files, unpacked, is encoded before the load and held. Larger ones are read while they are
// sent, by another goroutine than those that send.
const heldBytes = 256 << 20

// readFiles holds the files' documents, or opens a stream of them when they are too many.
func readFiles(c Config) (material, error) {
	held := &block{}
	lines := newLines(c.Bulk.Files)
	defer lines.close()
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return material{}, err
		}
		held.add(action(c.DataStream), line)
		if len(held.data) > heldBytes {
			return material{stream: &stream{files: c.Bulk.Files, action: action(c.DataStream)}}, nil
		}
	}
	if held.documents() == 0 {
		return material{}, errEmpty(c.Bulk.Files)
	}
	return material{block: held}, nil
}

// lines reads the documents of files, one after the other.
type lines struct {
	files  []string
	at     int
	file   *os.File
	begins bool // no line of file has been given yet
	unpack func()
	reader *bufio.Reader
	long   []byte // a line that the reader's buffer cannot hold
}

func newLines(files []string) *lines {
	return &lines{files: files, reader: bufio.NewReaderSize(nil, 1<<20), unpack: func() {}}
}

// next is the next line that is not blank, without its end; it is valid until the following call.
func (l *lines) next() ([]byte, error) {
	for {
		if l.file == nil {
			if l.at == len(l.files) {
				return nil, io.EOF
			}
			if err := l.open(l.files[l.at]); err != nil {
				return nil, err
			}
			l.at++
		}
		line, err := l.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", l.file.Name(), err)
		}
		if err != nil {
			l.close()
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if line[0] != '{' {
			return nil, fmt.Errorf("%s: a line is not a JSON object: %.60s", l.files[l.at-1], line)
		}
		if l.begins && isAction(line) {
			return nil, fmt.Errorf("%s is in the format of bulk requests: leave its action lines out, such as %.60s", l.files[l.at-1], line)
		}
		l.begins = false
		return line, nil
	}
}

func (l *lines) line() ([]byte, error) {
	line, err := l.reader.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	l.long = l.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long, line...)
		line, err = l.reader.ReadSlice('\n')
	}
	l.long = append(l.long, line...)
	return l.long, err
}

func (l *lines) open(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	reader, unpack, err := unpacked(file)
	if err != nil {
		_ = file.Close()
		return fmt.Errorf("%s: %w", name, err)
	}
	l.file, l.unpack, l.begins = file, unpack, true
	l.reader.Reset(reader)
	return nil
}

// rewind begins with the first file again.
func (l *lines) rewind() { l.at = 0 }

func (l *lines) close() {
	if l.file != nil {
		l.unpack()
		_ = l.file.Close()
		l.file = nil
	}
}

// unpacked reads a file through what its name says it is packed by; done ends that.
func unpacked(file *os.File) (reader io.Reader, done func(), err error) {
	switch filepath.Ext(file.Name()) {
	case ".gz":
		r, err := gzip.NewReader(file)
		return r, func() {}, err
	case ".bz2":
		return bzip2.NewReader(bufio.NewReaderSize(file, 1<<18)), func() {}, nil
	case ".zst":
		r, err := zstd.NewReader(file)
		if err != nil {
			return nil, nil, err
		}
		return r, r.Close, nil
	}
	return file, func() {}, nil
}

// stream makes bulk requests of files while it reads them.
type stream struct {
	files  []string
	action string
}

// ahead is how many bulk requests are read ahead of the workers, beside one for each of them.
const ahead = 2

// open starts reading. Of several pods each takes the documents of its workers, to all of whom they are dealt out in turn.
func (s *stream) open(c Config, sources []source) ([]source, func(), error) {
	r := &streamReader{stream: s, config: c, ready: make(chan *packed, ahead), empty: make(chan *packed, ahead+len(sources)+1), stopped: make(chan struct{})}
	for range cap(r.empty) {
		r.empty <- &packed{}
	}
	for i := range sources {
		sources[i] = &streamSource{reader: r}
	}
	var group sync.WaitGroup
	group.Go(r.read)
	var once sync.Once
	return sources, func() { once.Do(func() { close(r.stopped) }); group.Wait() }, nil
}

// packed is one bulk request's text.
type packed struct {
	text      []byte
	documents int
	err       error // instead
}

type streamReader struct {
	*stream
	config       Config
	ready, empty chan *packed
	stopped      chan struct{}
}

// read packs documents until they or the load end.
func (r *streamReader) read() {
	defer close(r.ready)
	if err := r.pack(); err != nil {
		r.hand(&packed{err: err})
	}
}

func (r *streamReader) pack() error {
	forever := r.config.Bulk.Documents > 0 || r.config.Bulk.DurationSeconds > 0
	left := int64(-1) // without bounds
	if r.config.Bulk.Documents > 0 {
		from, to := r.config.share(r.config.Bulk.Documents)
		left = to - from
	}
	lines := newLines(r.files)
	defer lines.close()
	p := r.blank()
	for number := int64(0); p != nil && left != 0; number++ {
		line, err := lines.next()
		if errors.Is(err, io.EOF) && forever {
			lines.rewind()
			line, err = lines.next()
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if !r.config.own(number) {
			continue
		}
		left--
		p.text = append(append(append(append(p.text, r.action...), '\n'), line...), '\n')
		p.documents++
		if r.full(p) {
			if !r.hand(p) {
				return nil
			}
			p = r.blank()
		}
	}
	if p != nil && p.documents > 0 {
		r.hand(p)
	}
	return nil
}

// full says whether a bulk request is to be sent.
func (r *streamReader) full(p *packed) bool {
	size, documents := r.config.flush()
	return size > 0 && int64(len(p.text)) >= size || documents > 0 && p.documents >= documents
}

// blank waits for a text that has been sent; nil: the load is over.
func (r *streamReader) blank() *packed {
	select {
	case <-r.stopped:
		return nil
	case p := <-r.empty:
		p.text, p.documents = p.text[:0], 0
		return p
	}
}

// hand gives a text to the workers; false: the load is over.
func (r *streamReader) hand(p *packed) bool {
	select {
	case <-r.stopped:
		return false
	case r.ready <- p:
		return true
	}
}

// streamSource is one worker's.
type streamSource struct {
	reader *streamReader
	last   *packed
	parts  [1][]byte
}

func (s *streamSource) next() (bulk, error) {
	if s.last != nil {
		s.reader.empty <- s.last
		s.last = nil
	}
	p, open := <-s.reader.ready
	if !open {
		return bulk{}, nil
	}
	if p.err != nil {
		return bulk{}, p.err
	}
	s.last, s.parts[0] = p, p.text
	return bulk{parts: s.parts[:], documents: p.documents, bytes: int64(len(p.text))}, nil
}
