package load

import "bytes"

// markRare is the letter of markTaken that is rarest in a reply. countTaken searches for this letter, so each search skips
// many bytes. bytes.Count would search for the first byte, which is a quote. Quotes are frequent, so it would take two to
// three times as long.
const (
	markRare   = 'u'
	markRareAt = 5 // position in markTaken
)

// countTaken returns how often markTaken occurs in a text.
func countTaken(text []byte) int {
	n := 0
	for {
		at := bytes.IndexByte(text, markRare)
		if at < 0 {
			return n
		}
		end := at + len(markTaken) - markRareAt
		if at >= markRareAt && end <= len(text) && bytes.Equal(text[at-markRareAt:end], markTaken) {
			n++
			text = text[end:]
			continue
		}
		text = text[at+1:]
	}
}
