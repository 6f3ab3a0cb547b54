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

// Client sends requests to one probe.
type Client struct {
	URL  string // for example http://host:9209
	HTTP *http.Client
}

// Limits for a request to a probe. windowTimeout is longer than callTimeout: for a window, the probe may have to read hours
// of the garbage collector's log.
const (
	callTimeout   = 3 * time.Second
	windowTimeout = 20 * time.Second
	maxAnswer     = 64 << 20 // bytes; enough for hours of samples
)

// Now returns the mean figures of the last two seconds.
func (c Client) Now(ctx context.Context) (Now, error) {
	var out Now
	err := c.get(ctx, callTimeout, "/v1/now", &out)
	return out, err
}

// Window returns the figures of a past window.
func (c Client) Window(ctx context.Context, from, to time.Time) (Window, error) {
	var out Window
	err := c.get(ctx, windowTimeout, "/v1/window?"+query(from, to), &out)
	return out, err
}

// Series returns all samples and pauses of a past window.
func (c Client) Series(ctx context.Context, from, to time.Time) (Series, error) {
	var out Series
	err := c.get(ctx, windowTimeout, "/v1/series?"+query(from, to), &out)
	return out, err
}

func query(from, to time.Time) string {
	now := time.Now()
	return fmt.Sprintf("from=%.3f&to=%.3f", now.Sub(from).Seconds(), max(0, now.Sub(to).Seconds()))
}

func (c Client) get(ctx context.Context, timeout time.Duration, path string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
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
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("Knee's probe at %s answers with HTTP status %d: %s", c.URL, resp.StatusCode, strings.TrimSpace(string(data)))
	}
	return json.Unmarshal(data, out)
}
