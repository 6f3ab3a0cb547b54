// Command bench-loader measures Knee's loader beside the bulk indexers of go-elasticsearch and opensearch-go, at servers
// that cost little: a strict sink of its own and nginx with a static reply. With -opensearch it measures Knee's loader
// beside opensearch-benchmark instead, at a real OpenSearch. Each time it prints a table and one line of JSON.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := dispatch(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-loader:", err)
		os.Exit(1)
	}
}

// dispatch runs the benchmark, or as a process of its own what stands at the other end of a load.
func dispatch(ctx context.Context, args []string) error {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	switch name {
	case "sink":
		return serve(func(l net.Listener) error {
			server := http.Server{Handler: newSink(), ReadHeaderTimeout: 10 * time.Second}
			return server.Serve(l)
		})
	case "drain":
		return serve(serveDrain)
	case "send":
		return send(ctx, parseSend(args[1:]))
	case "opensearch":
		return benchOpenSearch(ctx, args[1:])
	}
	return benchSinks(ctx, args)
}

// serve listens on a free port, says which on the standard output, and serves until the standard input ends: when the
// benchmark is gone, however it went, nothing of it stays.
func serve(handle func(net.Listener) error) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a listener of the loopback does not wait
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	failed := make(chan error, 1)
	go func() { failed <- handle(listener) }()
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		failed <- nil
	}()
	return <-failed
}

func parseSend(args []string) senderOptions {
	var o senderOptions
	flags := flag.NewFlagSet("send", flag.ExitOnError)
	flags.StringVar(&o.address, "address", "", "where the bytes go")
	flags.StringVar(&o.file, "file", "", "newline-delimited JSON: the documents")
	flags.IntVar(&o.flushBytes, "flush-bytes", 2<<20, "size of a bulk request")
	flags.IntVar(&o.workers, "workers", runtime.NumCPU(), "connections")
	flags.DurationVar(&o.time, "time", 3*time.Second, "how long to send")
	_ = flags.Parse(args) // it exits
	return o
}

// options of the benchmark at sinks.
type options struct {
	agent, clients string // the program knee-agent, the folder of the others
	nginx          string
	runs           int
	strict, static time.Duration // of one load
	flushBytes     int
	workers        int
	seed           uint64
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench-loader", flag.ExitOnError)
	flags.StringVar(&o.agent, "agent", "bin/knee-agent", "the program whose command load is measured")
	flags.StringVar(&o.clients, "clients", "bin/bench", "folder of the programs with the bulk indexers of others")
	flags.StringVar(&o.nginx, "nginx", "nginx", "the program nginx; empty: it is left out")
	flags.IntVar(&o.runs, "runs", 10, "loads of each program in each case")
	flags.DurationVar(&o.strict, "time", 3*time.Second, "of one load on the strict sink, whole seconds")
	flags.DurationVar(&o.static, "nginx-time", 2*time.Second, "of one load on nginx, whole seconds")
	flags.IntVar(&o.flushBytes, "flush-bytes", 2<<20, "size from which on a bulk request is sent")
	flags.IntVar(&o.workers, "workers", runtime.NumCPU(), "connections of each program")
	flags.Uint64Var(&o.seed, "seed", 1, "of the order of the programs")
	_ = flags.Parse(args) // it exits
	if o.runs < 2 || o.strict < time.Second || o.static < time.Second {
		return o, errors.New("-runs must be at least 2, -time and -nginx-time at least 1s")
	}
	return o, nil
}
