package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Client asks one probe.
type Client struct {
	URL  string // http://host:9209
	HTTP *http.Client
}

// callTimeout bounds one question.
const callTimeout = 3 * time.Second

// Now asks for the last seconds.
func (c Client) Now(ctx context.Context) (Now, error) {
	var out Now
	err := c.get(ctx, "/v1/now", &out)
	return out, err
}

// Window asks for a window that lies in the past.
func (c Client) Window(ctx context.Context, from, to time.Time) (Window, error) {
	var out Window
	now := time.Now()
	err := c.get(ctx, fmt.Sprintf("/v1/window?from=%.3f&to=%.3f", now.Sub(from).Seconds(), max(0, now.Sub(to).Seconds())), &out)
	return out, err
}

func (c Client) get(ctx context.Context, path string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.URL, "/")+path, nil)
	if err != nil {
		return err
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the probe %s answers %d: %s", c.URL, resp.StatusCode, strings.TrimSpace(string(data)))
	}
	return json.Unmarshal(data, out)
}
