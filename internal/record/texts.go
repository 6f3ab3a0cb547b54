package record

import (
	"strings"
	"unicode/utf8"
)

// repairTexts converts texts from other programs to valid UTF-8, because JSON needs six bytes for every invalid byte.
func repairTexts(r *Record) {
	texts := append(shortenedTexts(r), comparedTexts(r)...)
	if r.Error != nil {
		texts = append(texts, &r.Error.Message)
	}
	for _, text := range append(texts, &r.Settle.Note) {
		*text = strings.ToValidUTF8(*text, "\ufffd")
	}
}

// shortenedTexts returns the texts that may be shortened, because only users read these texts.
func shortenedTexts(r *Record) []*string {
	texts := []*string{&r.Settle.Note, &r.Loader.BusiestProcess, &r.Attempt.Variant, &r.Attempt.Topology, &r.Driver.Name, &r.Driver.RunID, &r.Driver.Version}
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

// comparedTexts returns the texts that are compared with texts of other records. A compared text must not be shortened, because the
// shortened text would differ from the complete text.
func comparedTexts(r *Record) []*string {
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

// maxCompared is the maximum length of a compared text, in bytes. A digest (sha256: and 64 digits) is shorter.
const maxCompared = 80

// cutTexts shortens every text except the identity and the error. It removes compared texts that are too long.
func cutTexts(r *Record) bool {
	changed := false
	for _, text := range shortenedTexts(r) {
		changed = cut(text, 64) || changed
	}
	for _, text := range comparedTexts(r) {
		if encodedLength(*text) > maxCompared {
			*text, changed = "", true
		}
	}
	return changed
}

// dropArtifacts removes the path of the folder. It does not shorten the path, because a shortened path would name another
// folder.
func dropArtifacts(r *Record) bool {
	changed := r.Artifacts != ""
	r.Artifacts = ""
	return changed
}

func cutError(r *Record, n int) bool { return r.Error != nil && cut(&r.Error.Message, n) }

// cut shortens a string so that its characters need at most n bytes of JSON. It does not split a character.
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

// encodedLength returns how many bytes of JSON a text needs.
func encodedLength(s string) int {
	length := 0
	for _, c := range s {
		length += encodedRune(c)
	}
	return length
}

// encodedRune returns how many bytes of JSON a character needs; see appendString of encoding/json.
func encodedRune(c rune) int {
	switch {
	case c == '"', c == '\\', c == '\n', c == '\r', c == '\t', c == '\b', c == '\f':
		return 2
	case c < ' ', c == '\u2028', c == '\u2029':
		return len(`\u0000`)
	}
	return utf8.RuneLen(c)
}
