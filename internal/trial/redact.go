package trial

import (
	"bytes"
	"io"
	"strings"
)

// mask stands where a secret stood.
const mask = "*****"

// secrets are the spellings of what must leave the pod in no form, the longest first. What others say (the driver in its
// output and its log, a server in the body of a refusal) is kept only without them.
type secrets []string

// hide masks every secret in a text.
func (s secrets) hide(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, mask)
	}
	return text
}

// writer masks every secret in what is written to w, whatever pieces it comes in. Its flush writes what it holds back.
func (s secrets) writer(w io.Writer) *hidingWriter { return &hidingWriter{secrets: s, to: w} }

type hidingWriter struct {
	secrets secrets
	to      io.Writer
	held    []byte // what a secret may begin in
}

// Write is part of io.Writer.
func (h *hidingWriter) Write(p []byte) (int, error) {
	if len(h.secrets) == 0 {
		return h.to.Write(p)
	}
	h.held = append(h.held, p...)
	for _, secret := range h.secrets {
		h.held = bytes.ReplaceAll(h.held, []byte(secret), []byte(mask))
	}
	n := len(h.held)
	for _, secret := range h.secrets {
		n = min(n, len(h.held)-begun(h.held, secret))
	}
	if _, err := h.to.Write(h.held[:n]); err != nil {
		return 0, err
	}
	h.held = append(h.held[:0], h.held[n:]...)
	return len(p), nil
}

// begun is how much of a secret the end of a text may be the beginning of.
func begun(text []byte, secret string) int {
	for n := min(len(text), len(secret)-1); n > 0; n-- {
		if string(text[len(text)-n:]) == secret[:n] {
			return n
		}
	}
	return 0
}

// flush ends the writing.
func (h *hidingWriter) flush() error {
	_, err := h.to.Write(h.held)
	h.held = nil
	return err
}
