package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// BenchmarkStream calls the Benchmark API once, whatever comes of it, and gives its reply. The call lasts as long as the
// load: the context alone bounds it.
func (c *Client) BenchmarkStream(ctx context.Context, path string, params map[string]string) ([]byte, error) {
	query := url.Values{}
	for name, value := range params {
		query.Set(name, value)
	}
	var reply json.RawMessage
	err := c.within(ctx, http.MethodPost, path+"?"+query.Encode(), nil, &reply)
	return reply, err
}

// NoHandler says whether an error is the API's for a path or a method that none of its plugins knows.
func NoHandler(err error) bool {
	var s *StatusError
	if !errors.As(err, &s) {
		return false
	}
	switch s.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return true
	case http.StatusBadRequest: // of a parameter, too
		return strings.Contains(s.Reason, "no handler found")
	}
	return false
}

// ErrorType returns the API's name for an error, such as illegal_argument_exception, or "" if err is not an answer of the API.
func ErrorType(err error) string {
	var s *StatusError
	if !errors.As(err, &s) {
		return ""
	}
	return s.Type
}

// ServerFailed reports whether an error is an answer of the API with a status of 500 or more.
func ServerFailed(err error) bool {
	var s *StatusError
	return errors.As(err, &s) && s.Status >= http.StatusInternalServerError
}
