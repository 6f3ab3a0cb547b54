package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"strings"
	"syscall"
	"time"
)

// child is a child process of this program: the sink or the drain.
type child struct {
	address string
	command *exec.Cmd
	input   io.Closer
}

// startChild starts this program with the given argument and waits until it prints its address.
func startChild(ctx context.Context, name string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, self, name)
	c.Stderr = os.Stderr
	input, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%s printed no address: %w", name, err)
	}
	return &child{strings.TrimSpace(line), c, input}, nil
}

func (c *child) url() string { return "http://" + c.address }

func (c *child) stop() {
	_ = c.input.Close()
	_ = c.command.Wait()
}

// requestTimeout is the time-out of one request to a server of the benchmark.
const requestTimeout = 10 * time.Second

func get(ctx context.Context, url string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.200s", url, reply.Status, body)
	}
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// nginx is a running process of Debian's nginx.
type nginx struct {
	url     string
	command *exec.Cmd
}

// nginxConfiguration makes nginx read each bulk request completely before it sends the static reply. This needs a proxy
// to nginx itself, because a plain return would reply earlier. The reply has no items, because nginx does not count
// documents.
const nginxConfiguration = `daemon off; worker_processes %[1]d; pid %[2]s/pid; error_log stderr error; user %[5]s;
events { worker_connections 64; }
http {
  access_log off; client_max_body_size 64m; client_body_buffer_size 8m; keepalive_requests 1000000000;
  client_body_temp_path %[2]s/body; proxy_temp_path %[2]s/proxy; fastcgi_temp_path %[2]s/fastcgi; uwsgi_temp_path %[2]s/uwsgi; scgi_temp_path %[2]s/scgi;
  default_type application/json;
  upstream static { server 127.0.0.1:%[4]d; keepalive 16; }
  server {
    listen 127.0.0.1:%[3]d;
    add_header X-Elastic-Product Elasticsearch;
    location / { return 200 '{"version":{"distribution":"opensearch","number":"3.1.0"}}'; }
    location ~ /_bulk$ {
      proxy_pass http://static; proxy_http_version 1.1; proxy_method GET;
      proxy_pass_request_body off; proxy_pass_request_headers off;
      proxy_set_header Connection ""; proxy_set_header Content-Length "";
    }
  }
  server { listen 127.0.0.1:%[4]d; location / { return 200 '{"took":1,"errors":false,"items":[]}'; } }
}
`

// userName returns the user of this process. The workers of nginx run as the same user; otherwise nginx, started by
// root, would switch to another user.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return "root"
	}
	return u.Username
}

func startNginx(ctx context.Context, binary, dir string, workers int) (*nginx, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	config := fmt.Sprintf(nginxConfiguration, workers, dir, ports[0], ports[1], userName())
	path := dir + "/nginx.conf"
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, binary, "-p", dir, "-c", path, "-e", "stderr")
	c.Stderr = os.Stderr
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := c.Start(); err != nil {
		return nil, err
	}
	n := &nginx{fmt.Sprintf("http://127.0.0.1:%d", ports[0]), c}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if err = get(ctx, n.url, nil); err == nil {
			return n, nil
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			n.stop()
			return nil, fmt.Errorf("nginx does not answer: %w", err)
		}
	}
}

func (n *nginx) stop() {
	_ = n.command.Process.Signal(syscall.SIGTERM)
	_ = n.command.Wait()
}
