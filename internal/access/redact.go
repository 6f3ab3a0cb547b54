package access

import (
	"bytes"
	"io"
	"strings"
)

// mask is printed in place of a secret.
const mask = "*****"

// Secrets are the spellings of the values that must not leave the pod, longest first. Text from other programs (a driver's
// output and log, a server's error body) is stored only after masking.
type Secrets []string

// Hide masks every secret in a text.
func (s Secrets) Hide(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, mask)
	}
	return text
}

// Writer returns a writer that masks every secret before it writes to w. A secret may arrive in several pieces, so the writer
// holds text back. Flush writes the held text.
func (s Secrets) Writer(w io.Writer) *MaskingWriter { return &MaskingWriter{secrets: s, to: w} }

// MaskingWriter masks secrets; see Secrets.Writer.
type MaskingWriter struct {
	secrets Secrets
	to      io.Writer
	held    []byte // text that may be the beginning of a secret
}

// Write implements io.Writer.
func (h *MaskingWriter) Write(p []byte) (int, error) {
	if len(h.secrets) == 0 {
		return h.to.Write(p)
	}
	h.held = append(h.held, p...)
	for _, secret := range h.secrets {
		h.held = bytes.ReplaceAll(h.held, []byte(secret), []byte(mask))
	}
	n := len(h.held)
	for _, secret := range h.secrets {
		n = min(n, len(h.held)-lengthOfStart(h.held, secret))
	}
	if _, err := h.to.Write(h.held[:n]); err != nil {
		return 0, err
	}
	h.held = append(h.held[:0], h.held[n:]...)
	return len(p), nil
}

// lengthOfStart returns how many bytes at the end of a text are the beginning of a secret.
func lengthOfStart(text []byte, secret string) int {
	for n := min(len(text), len(secret)-1); n > 0; n-- {
		if string(text[len(text)-n:]) == secret[:n] {
			return n
		}
	}
	return 0
}

// Flush writes the text that was held back.
func (h *MaskingWriter) Flush() error {
	_, err := h.to.Write(h.held)
	h.held = nil
	return err
}
