package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// items is a block of items of a bulk reply, in the format of OpenSearch 3.1.0. A reply repeats the block; the last
// block is cut off. The block is small enough for the cache of a core.
type items struct {
	start string // beginning of the reply
	block []byte
	size  int // bytes of one item with its comma
}

const blockItems = 1024

var (
	wholeItems = makeItems(`{"took":1,"errors":false,"items":[`, func(i int) string {
		return fmt.Sprintf(`{"index":{"_index":"bench","_id":"%020d","_version":1,"result":"created",`+
			`"_shards":{"total":1,"successful":1,"failed":0},"_seq_no":%d,"_primary_term":1,"status":201}},`, i, 1_000_000+i)
	})
	statusItems = makeItems(`{"errors":false,"items":[`, func(int) string { return `{"index":{"status":201}},` })
)

func makeItems(start string, item func(i int) string) items {
	var b bytes.Buffer
	for i := range blockItems {
		b.WriteString(item(i))
	}
	return items{start, b.Bytes(), b.Len() / blockItems}
}

// itemsFor returns the items of a reply to a request with the given filter_path. The sink supports only a filter for
// errors, the status of each item, and the error of each item. For any other filter, itemsFor returns complete items.
func itemsFor(filterPath string) items {
	paths := strings.Split(filterPath, ",")
	other := slices.ContainsFunc(paths, func(p string) bool {
		return p != "errors" && p != "items.*.status" && !strings.HasPrefix(p, "items.*.error.")
	})
	if other || !slices.Contains(paths, "errors") || !slices.Contains(paths, "items.*.status") {
		return wholeItems
	}
	return statusItems
}

// write writes the reply to a bulk request with the given number of documents.
func (it items) write(w http.ResponseWriter, documents int) error {
	const end = "]}"
	left := max(0, documents*it.size-1) // the last item has no comma
	w.Header().Set("Content-Length", strconv.Itoa(len(it.start)+left+len(end)))
	if _, err := io.WriteString(w, it.start); err != nil {
		return err
	}
	for left > 0 {
		n := min(left, len(it.block))
		if _, err := w.Write(it.block[:n]); err != nil {
			return err
		}
		left -= n
	}
	_, err := io.WriteString(w, end)
	return err
}
