package main

import (
	"crypto/sha256"
	"fmt"
)

// reviewed are licence files that a person has read, by their SHA-256. They are listed because licensecheck does not
// recognize them, or because their licence is unusual for programs. If a file changes, it must be read again.
var reviewed = map[string]review{
	"d3ba056adc2b7909e95681deaae397fb37c97ed491a920f491214f07b62c41d0": {
		id: "FTL", because: "freetype: FreeType License chosen of the two; requires a mention in the documentation",
		also: "licenses/ftl.txt",
	},
	"ed4b89feec98e1fb387e439551a914672fb689c726d1e22e3500decc036a7cae": {
		id: "CC-BY-4.0", because: "svgo: requires attribution, which the notices contain",
	},
	"faef26bb83b741b22eed4593980048f1607bdc679232ca9635ccf505cf2abe77": {
		id: "CC-BY-4.0", because: "svgo: names the licence of the file beside it",
	},
}

// review is the result of reading a licence file.
type review struct {
	id, because string
	also        string // path of a second licence file whose text must be shipped too, relative to the folder of the reviewed file; empty: none
}

func reviewOf(text []byte) (review, bool) {
	r, known := reviewed[fmt.Sprintf("%x", sha256.Sum256(text))]
	return r, known
}
