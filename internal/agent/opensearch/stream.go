package opensearch

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// BenchmarkStream calls the Benchmark API once and returns the answer. It never retries. The call lasts as long as the load,
// so only the context limits it.
func (c *Client) BenchmarkStream(ctx context.Context, path string, params map[string]string) ([]byte, error) {
	query := url.Values{}
	for name, value := range params {
		query.Set(name, value)
	}
	var reply json.RawMessage
	err := c.within(ctx, http.MethodPost, path+"?"+query.Encode(), nil, &reply)
	return reply, err
}

// NoHandler reports whether an error means that no plugin handles the path or the method.
func NoHandler(err error) bool {
	var s *StatusError
	if !errors.As(err, &s) {
		return false
	}
	switch s.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return true
	case http.StatusBadRequest: // a wrong parameter gets the same status
		return strings.Contains(s.Reason, "no handler found")
	}
	return false
}

// ErrorType returns the API's type of an error, such as illegal_argument_exception. It returns "" if err is not an answer of
// the API.
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
