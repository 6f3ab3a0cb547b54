package record

import (
	"strings"
	"unicode/utf8"
)

// repairTexts makes the texts of foreign programs UTF-8: JSON would write six bytes for every one that is not.
func repairTexts(r *Record) {
	texts := append(shortened(r), compared(r)...)
	if r.Error != nil {
		texts = append(texts, &r.Error.Message)
	}
	for _, text := range append(texts, &r.Settle.Note) {
		*text = strings.ToValidUTF8(*text, "\ufffd")
	}
}

// shortened are the texts for people, of which a part is better than nothing.
func shortened(r *Record) []*string {
	texts := []*string{&r.Settle.Note, &r.Loader.BusiestProcess, &r.Trial.Variant, &r.Trial.Topology, &r.Driver.Name, &r.Driver.RunID, &r.Driver.Version}
	if r.Ingest != nil {
		texts = append(texts, &r.Ingest.WindowNote, &r.Ingest.Window)
	}
	if r.ClientCheck != nil {
		texts = append(texts, &r.ClientCheck.Note, &r.ClientCheck.Window)
	}
	if r.Load != nil {
		texts = append(texts, loadNotes(r.Load)...)
	}
	for i := range r.Nodes {
		texts = append(texts, &r.Nodes[i].Name)
	}
	for i := range r.Tasks {
		texts = append(texts, &r.Tasks[i].Name, &r.Tasks[i].Unit)
	}
	return texts
}

// compared are the texts that are held against those of other records: a part of one would differ from the whole.
func compared(r *Record) []*string {
	texts := []*string{&r.Loader.Host}
	if r.Ingest != nil {
		texts = append(texts, &r.Ingest.RefreshInterval, &r.Ingest.SettingsDigest)
	}
	if r.Load != nil {
		texts = append(texts, loadNames(r.Load)...)
	}
	for i := range r.Nodes {
		e := &r.Nodes[i].Environment
		texts = append(texts, &e.Host, &e.CPUModel, &e.Kernel, &e.JVM, &e.OpenSearch, &e.THP, &e.Arch, &e.Disk, &e.Image, &e.NodeOS, &e.ImageOS, &e.Hypervisor, &e.Swap)
	}
	return texts
}

// maxCompared is the room of a compared text: a digest (sha256: and 64 figures) fits.
const maxCompared = 80

// cutTexts shortens every text but identities and the error, and leaves out long ones that are compared.
func cutTexts(r *Record) bool {
	changed := false
	for _, text := range shortened(r) {
		changed = cut(text, 64) || changed
	}
	for _, text := range compared(r) {
		if encodedLength(*text) > maxCompared {
			*text, changed = "", true
		}
	}
	return changed
}

// dropArtifacts leaves the folder's path out whole: a part of it names another folder.
func dropArtifacts(r *Record) bool {
	changed := r.Artifacts != ""
	r.Artifacts = ""
	return changed
}

func cutError(r *Record, n int) bool { return r.Error != nil && cut(&r.Error.Message, n) }

// cut shortens a string to whole runes that take at most n bytes of JSON.
func cut(s *string, n int) bool {
	length := 0
	for i, c := range *s {
		if length += encodedRune(c); length > n {
			*s = (*s)[:i]
			return true
		}
	}
	return false
}

// encodedLength is how many bytes of JSON a text takes.
func encodedLength(s string) int {
	length := 0
	for _, c := range s {
		length += encodedRune(c)
	}
	return length
}

// encodedRune is how many bytes of JSON a character takes, see encoding/json's appendString.
func encodedRune(c rune) int {
	switch {
	case c == '"', c == '\\', c == '\n', c == '\r', c == '\t', c == '\b', c == '\f':
		return 2
	case c < ' ', c == '\u2028', c == '\u2029':
		return len(`\u0000`)
	}
	return utf8.RuneLen(c)
}
