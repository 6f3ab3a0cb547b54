package load

import "bytes"

// markRare is the letter by which markTaken is looked for: in a reply it is rarer than the mark's others, a few an item,
// so that a search for one byte gets far. bytes.Count looks for the first one, a quote, which is everywhere: it takes two to
// three times as long.
const (
	markRare   = 'u'
	markRareAt = 5 // in markTaken
)

// countTaken is how often markTaken is in the text.
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
