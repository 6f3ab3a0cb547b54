package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/driverconfig"
	"github.com/knee-bench/knee/test/loopback"
)

// pod is an agent process that acts as one loader pod of a trial.
type pod struct {
	cmd     *exec.Cmd
	message string // file of the agent's termination message
	mu      sync.Mutex
	said    strings.Builder
	changed chan struct{}
	ended   chan struct{}
}

// Write stores the output of the agent and wakes up await.
func (p *pod) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said.Write(text)
	select {
	case p.changed <- struct{}{}:
	default:
	}
	return len(text), nil
}

func (p *pod) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// await waits until the output of the agent contains the given words.
func (p *pod) await(t *testing.T, words string) {
	t.Helper()
	limit := time.After(time.Minute)
	for !strings.Contains(p.output(), words) {
		select {
		case <-p.changed:
		case <-p.ended:
			if !strings.Contains(p.output(), words) {
				t.Fatalf("it ended without %q:\n%s", words, p.output())
			}
		case <-limit:
			t.Fatalf("no %q after a minute:\n%s", words, p.output())
		}
	}
}

// end waits until the agent has ended. It returns the exit code and the termination message.
func (p *pod) end(t *testing.T) (code int, message string) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		t.Fatalf("it has not ended after a minute:\n%s", p.output())
	}
	data, err := os.ReadFile(p.message)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode(), string(data)
}

// startPods starts one agent process for each loader pod of the trial.
func startPods(t *testing.T, config record.Config) []*pod {
	t.Helper()
	data, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	var out []*pod
	for index := range config.Loaders {
		p := &pod{message: filepath.Join(t.TempDir(), "message"), changed: make(chan struct{}, 1), ended: make(chan struct{})}
		p.cmd = exec.Command(os.Args[0], "trial", "--work", t.TempDir(), "--record", p.message)
		p.cmd.Env = []string{self + "=1", "PATH=" + os.Getenv("PATH"), record.ConfigEnv + "=" + string(data), fmt.Sprintf("%s=%d", record.IndexEnv, index),
			fmt.Sprintf("%s=node-%d", record.HostEnv, index)}
		p.cmd.Stdout, p.cmd.Stderr = p, p
		p.cmd.WaitDelay = time.Second // a program that outlives its agent keeps the output open
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.cmd.Process.Kill() })
		go func() {
			_ = p.cmd.Wait() // end reads the result from the exit code
			close(p.ended)
		}()
		out = append(out, p)
	}
	t.Cleanup(func() {
		for index, p := range out {
			if t.Failed() {
				t.Logf("loader pod %d:\n%s", index, p.output())
			}
		}
	})
	return out
}

// endless returns the configuration of a trial of several loader pods. Its program runs until the test's folder is
// deleted.
func endless(t *testing.T, loaders, clients int32) record.Config {
	t.Helper()
	return record.Config{
		Attempt: record.Attempt{Trial: record.Trial{Campaign: "c", Cell: "abc", Phase: record.Sweep, Clients: clients, Repetition: 1, Placement: 1}, N: 1}, DeadlineSeconds: 120,
		Loaders: loaders, Coordinator: loopback.Address(),
		Driver: record.NewDriverConfig(commandconfig.Name, commandconfig.Config{
			JSON:    &commandconfig.Figures{Throughput: commandconfig.Figure{Selector: "$.rate", Unit: "calls/s"}},
			Command: []string{"sh", "-c", "while [ -d " + t.TempDir() + " ]; do sleep 0.1; done"},
		}),
	}
}

func TestTrial_fourLoaderPods_ratesAreSummed(t *testing.T) {
	config := endless(t, 4, 10)
	driverconfig.Change(&config, func(c *commandconfig.Config) { c.Command = []string{"sh", "-c", `echo '{"rate": $(KNEE_CLIENTS)000}'`} })
	pods := startPods(t, config)
	code, message := pods[0].end(t)
	r, err := record.Decode([]byte(message))
	if code != 0 || err != nil || r.Error != nil || r.Load == nil {
		t.Fatalf("exit code %d, %v, %+v", code, err, r)
	}
	if r.Load.Rate != 10_000 {
		t.Errorf("%.0f calls/s of 3, 3, 2 and 2 clients that make 1000 each", r.Load.Rate)
	}
	if want := "node-0, node-1, node-2, 1 more"; r.Loader.Host != want {
		t.Errorf("the loader's hosts are %q, want %q", r.Loader.Host, want)
	}
	for index, clients := range []int{1: 3, 2: 2, 3: 2} {
		if index == 0 {
			continue
		}
		code, message := pods[index].end(t)
		if want := fmt.Sprintf("loader pod %d of 4 made its part of the load, %d of 10 clients, in ", index, clients); code != 0 || !strings.HasPrefix(message, want) {
			t.Errorf("exit code %d, message %q, want %q", code, message, want)
		}
	}
}

func TestTrial_loaderPodLostMidLoad_fails(t *testing.T) {
	for name, c := range map[string]struct {
		signal syscall.Signal
		reason string
		words  string
	}{
		"killed":             {syscall.SIGKILL, record.ReasonLoaderLost, "loader pod 2 on node-2 was lost during the load: the connection "},
		"ended from outside": {syscall.SIGTERM, record.ReasonInterrupted, "loader pod 2 on node-2: the pod was ended from outside"},
	} {
		t.Run(name, func(t *testing.T) {
			config := endless(t, 3, 6)
			pods := startPods(t, config)
			pods[0].await(t, "3 loader pods started the load within ")
			if err := pods[2].cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			code, message := pods[0].end(t)
			r, err := record.Decode([]byte(message))
			if code != 1 || err != nil || r.Error == nil || r.Error.Reason != c.reason || !strings.Contains(r.Error.Message, c.words) {
				t.Errorf("exit code %d, %v, %+v, want %s with %q", code, err, r.Error, c.reason, c.words)
			}
			code, message = pods[1].end(t)
			if code != 0 || !strings.Contains(message, "loader pod 1 of 3 failed and reported it to loader pod 0: loader pod 0 ended the load: "+c.words) {
				t.Errorf("exit code %d, message %q", code, message)
			}
			pods[2].end(t)
		})
	}
}

// TestTrial_coordinatorLostMidLoad_otherPodsFail checks the other loader pods after index 0 was killed: each ends its load and
// reports LoaderLost in its own termination message.
func TestTrial_coordinatorLostMidLoad_otherPodsFail(t *testing.T) {
	config := endless(t, 3, 6)
	pods := startPods(t, config)
	pods[0].await(t, "3 loader pods started the load within ")
	if err := pods[0].cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, p := range pods[1:] {
		if code, message := p.end(t); code != 1 || !strings.Contains(message, "LoaderLost: this loader pod lost its connection to loader pod 0, which coordinates the load: the connection ") {
			t.Errorf("exit code %d, message %q", code, message)
		}
	}
}

func TestTrial_invalidLoaderIndex_fails(t *testing.T) {
	config, err := json.Marshal(record.Config{Loaders: 4, Coordinator: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{"", "four", "4", "-1"} {
		file := filepath.Join(t.TempDir(), "message")
		out, code := agent(t, []string{record.ConfigEnv + "=" + string(config), record.IndexEnv + "=" + index}, "trial", "--work", t.TempDir(), "--record", file)
		message, err := os.ReadFile(file)
		want := fmt.Sprintf("JOB_COMPLETION_INDEX is %q: in a trial of 4 loader pods, the value must be the index of this pod in its Job, from 0 to 3", index)
		if code != 1 || err != nil || !strings.Contains(out, want) || !strings.Contains(string(message), want) {
			t.Errorf("%q: exit code %d, %v, %s, message %q", index, code, err, out, message)
		}
	}
}
