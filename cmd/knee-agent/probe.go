package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/knee-bench/knee/internal/agent/probe"
	"github.com/knee-bench/knee/internal/agent/probe/gclog"
	"github.com/knee-bench/knee/internal/record"
)

// ringSize is the number of samples that the probe keeps. At one sample per second, it covers six hours. Loads are expected
// to be shorter. The samples need about 8 MB.
const (
	ringSize       = 6 * 3600
	sampleInterval = time.Second
)

// runProbe serves the samples of the machine until it receives a signal.
func runProbe(args []string) int {
	flags := flag.NewFlagSet("probe", flag.ContinueOnError)
	listen := flags.String("listen", fmt.Sprintf(":%d", record.ProbePort), "address to listen on")
	proc := flags.String("proc", "/proc", "mount point of proc")
	sys := flags.String("sys", "/sys", "mount point of sys")
	log := flags.String("gc-log", "/logs/gc.log", "log of OpenSearch's garbage collector; the file may be missing")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	sampler, err := probe.NewSampler(*proc, *sys)
	if err != nil {
		return failed("probe", err)
	}
	ring := probe.NewRing(ringSize)
	server := &http.Server{Addr: *listen, Handler: probe.Handler(ring, gclog.NewFollower(*log), probe.ReadEnvironment(*proc, *sys, os.Getenv(record.HostEnv))),
		ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second}
	errs := make(chan error, 2)
	go func() { errs <- sampler.Run(ctx, ring, sampleInterval) }()
	go func() { errs <- server.ListenAndServe() }()
	fmt.Printf("knee-agent probe listens on %s\n", *listen)
	select {
	case <-ctx.Done():
	case err := <-errs:
		if err != nil {
			return failed("probe", err)
		}
	}
	closing, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(closing); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return failed("probe", err)
	}
	return 0
}
