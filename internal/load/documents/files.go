package documents

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

// heldBytes is the maximum size of unpacked files that are encoded before the load and held in memory. If files are larger, a
// separate goroutine reads them during the load.
const heldBytes = 256 << 20

// readFiles reads the documents of the files into memory. If the files are too large, it returns a stream of the files
// instead.
func readFiles(c Config) (Material, error) {
	held := &block{}
	lines := newLines(c.Bulk.Files)
	defer lines.close()
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Material{}, err
		}
		held.add(actionLine(c.DataStream), line)
		if len(held.data) > heldBytes {
			return StreamFiles(c), nil
		}
	}
	if held.documents() == 0 {
		return Material{}, errEmpty(c.Bulk.Files)
	}
	return Material{block: held}, nil
}

// StreamFiles returns a Material that reads the documents of files during the load.
func StreamFiles(c Config) Material {
	return Material{stream: &stream{files: c.Bulk.Files, action: actionLine(c.DataStream)}}
}

// lines reads the documents of several files, one file after the other.
type lines struct {
	files  []string
	at     int
	file   *os.File
	begins bool // no line of the current file has been returned yet
	unpack func()
	reader *bufio.Reader
	long   []byte // buffer for a line that is longer than the reader's buffer
}

func newLines(files []string) *lines {
	return &lines{files: files, reader: bufio.NewReaderSize(nil, 1<<20), unpack: func() {}}
}

// next returns the next line that is not blank, without its line end. The line is valid until the next call.
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
		line, err := l.readLine()
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
			return nil, fmt.Errorf("file %s: a line is not a JSON object: %.60s", l.files[l.at-1], line)
		}
		if l.begins && isAction(line) {
			return nil, fmt.Errorf("file %s is in the format of bulk requests: remove the action lines, such as %.60s", l.files[l.at-1], line)
		}
		l.begins = false
		return line, nil
	}
}

func (l *lines) readLine() ([]byte, error) {
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

// rewind makes the next call of next start with the first file.
func (l *lines) rewind() { l.at = 0 }

func (l *lines) close() {
	if l.file != nil {
		l.unpack()
		_ = l.file.Close()
		l.file = nil
	}
}

// unpacked returns a reader for a file. It decompresses the file according to its name. The caller must call done after
// reading.
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

// stream builds bulk requests from files while it reads the files.
type stream struct {
	files  []string
	action string
}

// ahead is how many bulk requests are built before a worker needs them.
const ahead = 2

// open starts the reading. Documents are assigned round-robin to the workers of all pods. Each pod sends only the documents
// of its own workers.
func (s *stream) open(c Config, sources []Source) ([]Source, func(), error) {
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

// packed is the text of one bulk request.
type packed struct {
	text      []byte
	documents int
	err       error // error of the reading; the text is then empty
}

type streamReader struct {
	*stream
	config       Config
	ready, empty chan *packed
	stopped      chan struct{}
}

// read builds bulk requests until there are no more documents or the load ends.
func (r *streamReader) read() {
	defer close(r.ready)
	if err := r.pack(); err != nil {
		r.handOver(&packed{err: err})
	}
}

func (r *streamReader) pack() error {
	forever := r.config.Bulk.Documents > 0 || r.config.Bulk.DurationSeconds > 0
	left := int64(-1) // -1: no limit
	if r.config.Bulk.Documents > 0 {
		from, to := r.config.share(r.config.Bulk.Documents)
		left = to - from
	}
	lines := newLines(r.files)
	defer lines.close()
	p := r.takeBuffer()
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
		if !r.config.ownsDocument(number) {
			continue
		}
		left--
		p.text = append(append(append(append(p.text, r.action...), '\n'), line...), '\n')
		p.documents++
		if r.isFull(p) {
			if !r.handOver(p) {
				return nil
			}
			p = r.takeBuffer()
		}
	}
	if p != nil && p.documents > 0 {
		r.handOver(p)
	}
	return nil
}

// isFull reports whether a bulk request is full.
func (r *streamReader) isFull(p *packed) bool {
	size, documents := r.config.flush()
	return size > 0 && int64(len(p.text)) >= size || documents > 0 && p.documents >= documents
}

// takeBuffer waits for a buffer whose text has been sent. It returns nil if the load has ended.
func (r *streamReader) takeBuffer() *packed {
	select {
	case <-r.stopped:
		return nil
	case p := <-r.empty:
		p.text, p.documents = p.text[:0], 0
		return p
	}
}

// handOver passes a text to the workers. It returns false if the load has ended.
func (r *streamReader) handOver(p *packed) bool {
	select {
	case <-r.stopped:
		return false
	case r.ready <- p:
		return true
	}
}

// streamSource is the Source of one worker.
type streamSource struct {
	reader *streamReader
	last   *packed
	parts  [1][]byte
}

func (s *streamSource) Next() (Bulk, error) {
	if s.last != nil {
		s.reader.empty <- s.last
		s.last = nil
	}
	p, open := <-s.reader.ready
	if !open {
		return Bulk{}, nil
	}
	if p.err != nil {
		return Bulk{}, p.err
	}
	s.last, s.parts[0] = p, p.text
	return Bulk{Parts: s.parts[:], Documents: p.documents, Bytes: int64(len(p.text))}, nil
}
