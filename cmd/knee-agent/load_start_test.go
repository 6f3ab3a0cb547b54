package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAwaitStart_closedWithoutSignal_fails checks that a loader does not start if the FIFO is closed without a start
// signal. This happens when the agent of the trial was killed, and then nothing would measure the load.
func TestAwaitStart_closedWithoutSignal_fails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "start")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	began := make(chan error, 1)
	go func() { began <- awaitStart(t.Context(), path) }()
	trial, err := os.OpenFile(path, os.O_WRONLY, 0) // returns as soon as the loader is ready
	if err != nil {
		t.Fatal(err)
	}
	_ = trial.Close()
	select {
	case err := <-began:
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want one that names %s", err, path)
		}
	case <-time.After(time.Minute):
		t.Error("it waits on")
	}
}
