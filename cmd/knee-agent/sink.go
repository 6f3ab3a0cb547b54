package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/knee-bench/knee/internal/load"
)

// runSink runs a server that answers bulk requests until it receives a signal.
func runSink(args []string) int {
	flags := flag.NewFlagSet("sink", flag.ContinueOnError)
	listen := flags.String("listen", ":9200", "address to listen on")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	sink := load.NewSink()
	server := &http.Server{Addr: *listen, Handler: sink, ReadHeaderTimeout: time.Minute}
	failure := make(chan error, 1)
	go func() { failure <- server.ListenAndServe() }()
	fmt.Printf("the mock server listens on %s; it stores no documents\n", *listen)
	select {
	case <-ctx.Done():
	case err := <-failure:
		return failed("sink", err)
	}
	closing, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(closing); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return failed("sink", err)
	}
	fmt.Printf("%+v\n", sink.Stats())
	return 0
}
