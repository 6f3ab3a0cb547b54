package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// replies holds the sizes of the replies to one bulk request.
type replies struct {
	documents       int
	filter          string // filter_path that Knee's loader sends
	whole, filtered int    // sizes of the complete and the filtered reply, bytes
	errors          int    // items with an error, in the filtered reply to a request with one bad document
}

// compareReplies sends the same bulk request with and without filter_path. It also sends a request with a document that
// the mapping refuses. The filtered reply to this request must contain the error.
func (b *realBench) compareReplies(ctx context.Context) (replies, error) {
	r := replies{documents: b.bulkSize}
	request, err := b.request()
	if err != nil {
		return r, err
	}
	o := options{agent: b.agent}
	sent, err := captureRequest(ctx, o.kneeProgram(), b.job(time.Second))
	if err != nil {
		return r, err
	}
	r.filter = sent.query.Get("filter_path")
	if r.filter == "" {
		return r, fmt.Errorf("%s sends no filter_path", knee)
	}
	if err := b.node.renew(ctx, b.body); err != nil {
		return r, err
	}
	path := "/" + b.index + "/_bulk"
	whole, err := b.node.call(ctx, http.MethodPost, path, request)
	if err != nil {
		return r, err
	}
	filtered, err := b.node.call(ctx, http.MethodPost, path+"?filter_path="+r.filter, request)
	if err != nil {
		return r, err
	}
	r.whole, r.filtered = len(whole), len(filtered)
	bad := append(bytes.Clone(request), actionLine+`{"trip_distance":"far"}`+"\n"...)
	text, err := b.node.call(ctx, http.MethodPost, path+"?filter_path="+r.filter, bad)
	if err != nil {
		return r, err
	}
	if r.errors, err = countErrors(text, r.documents+1); err == nil && r.errors != 1 {
		err = fmt.Errorf("the filtered reply to one bad document has %d errors", r.errors)
	}
	return r, err
}

func countErrors(reply []byte, documents int) (int, error) {
	var all struct {
		Errors bool `json:"errors"`
		Items  []map[string]struct {
			Status int `json:"status"`
			Error  struct {
				Type   string `json:"type"`
				Reason string `json:"reason"`
			} `json:"error"`
		} `json:"items"`
	}
	if err := json.Unmarshal(reply, &all); err != nil {
		return 0, err
	}
	if !all.Errors || len(all.Items) != documents {
		return 0, fmt.Errorf("errors is %v, there are %d items for %d documents", all.Errors, len(all.Items), documents)
	}
	n := 0
	for _, item := range all.Items {
		for _, i := range item {
			if i.Status >= http.StatusBadRequest && i.Error.Type != "" && i.Error.Reason != "" {
				n++
			}
		}
	}
	return n, nil
}

// request returns a bulk request with the first documents of the corpus.
func (b *realBench) request() ([]byte, error) {
	f, err := os.Open(b.corpus)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var request []byte
	lines := bufio.NewScanner(f)
	for range b.bulkSize {
		if !lines.Scan() {
			return nil, errors.Join(errors.New("the corpus has fewer documents than a bulk request"), lines.Err())
		}
		request = append(append(append(request, actionLine...), lines.Bytes()...), '\n')
	}
	return request, nil
}
