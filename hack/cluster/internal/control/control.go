// Package control connects the commands on the host with a running supervisor, by HTTP over a unix socket in the state
// directory.
package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Phase is the state of the cluster's start or stop.
type Phase string

// These are the phases, in order.
const (
	Starting Phase = "Starting"
	Ready    Phase = "Ready"
	Failed   Phase = "Failed"
	Stopping Phase = "Stopping"
)

// An Event is a step of the cluster's start or stop.
type Event struct {
	Time  time.Time `json:"time"`
	Phase Phase     `json:"phase"`
	Text  string    `json:"text"`
}

// A Daemon is the status of one of the cluster's processes.
type Daemon struct {
	Name string `json:"name"`
	// PID is the process id in the cluster's PID namespace; 0 if the daemon does not run.
	PID int `json:"pid"`
	// HostPID is the process id on the host. The supervisor cannot see it, so the status command sets it.
	HostPID  int       `json:"hostPID,omitempty"`
	Started  time.Time `json:"started"`
	Restarts int       `json:"restarts"`
	LastExit string    `json:"lastExit,omitempty"`
	// Waiting is the result of the last failed check of the daemon; empty if the daemon is ready.
	Waiting string `json:"waiting,omitempty"`
}

// Status is the state of the whole cluster.
type Status struct {
	Phase   Phase    `json:"phase"`
	Daemons []Daemon `json:"daemons"`
}

// A Target provides the data for the server's answers.
type Target interface {
	Status() Status
	// Events returns the events from index i on. It also returns a channel, which is closed at the next event.
	Events(i int) ([]Event, <-chan struct{})
	Stop()
}

// Serve answers requests on the listener until the listener is closed.
func Serve(listener net.Listener, target Target) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(target.Status()) // the client may have closed the connection
	})
	mux.HandleFunc("POST /stop", func(w http.ResponseWriter, _ *http.Request) {
		target.Stop()
		w.WriteHeader(http.StatusAccepted)
	})
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		encoder, controller := json.NewEncoder(w), http.NewResponseController(w)
		for seen := 0; ; {
			events, more := target.Events(seen)
			for _, event := range events {
				if encoder.Encode(event) != nil {
					return
				}
			}
			seen += len(events)
			if controller.Flush() != nil {
				return
			}
			select {
			case <-more:
			case <-r.Context().Done():
				return
			}
		}
	})
	return (&http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}).Serve(listener)
}

// A Client sends requests to the supervisor over a socket.
type Client struct{ http http.Client }

// NewClient returns a client of the supervisor that listens on the socket.
func NewClient(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return DialUnix(ctx, socket) }
	return &Client{http: http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

func (c *Client) do(ctx context.Context, method, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://supervisor"+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking the supervisor: %w", err)
	}
	return response, nil
}

// Status returns the state of the cluster.
func (c *Client) Status(ctx context.Context) (status Status, err error) {
	response, err := c.do(ctx, http.MethodGet, "/status")
	if err != nil {
		return status, err
	}
	defer response.Body.Close()
	return status, json.NewDecoder(response.Body).Decode(&status)
}

// Stop requests the cluster to stop. It returns before the cluster has stopped.
func (c *Client) Stop(ctx context.Context) error {
	response, err := c.do(ctx, http.MethodPost, "/stop")
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// ErrFailed is returned by Watch with the reason why the cluster did not start.
var ErrFailed = errors.New("the cluster did not start")

// Watch calls the function each for every event since the start of the supervisor. It returns when the cluster is
// ready.
func (c *Client) Watch(ctx context.Context, each func(Event)) error {
	response, err := c.do(ctx, http.MethodGet, "/events")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	for lines := bufio.NewReader(response.Body); ; {
		line, err := lines.ReadBytes('\n')
		if ctx.Err() != nil {
			return fmt.Errorf("the cluster is not ready: %w", context.Cause(ctx))
		}
		if err != nil {
			return fmt.Errorf("the supervisor ended while the cluster was starting: %w", err)
		}
		var event Event
		if err := json.Unmarshal(line, &event); err != nil {
			return err
		}
		if event.Phase == Failed || event.Phase == Stopping {
			return fmt.Errorf("%w: %s", ErrFailed, event.Text)
		}
		each(event)
		if event.Phase == Ready {
			return nil
		}
	}
}
