// Command bench-loader compares Knee's loader with other loaders. It prints a table and one line of JSON.
//
//	bench-loader              with the bulk indexers of go-elasticsearch and opensearch-go, at a strict sink and at nginx
//	bench-loader opensearch   with opensearch-benchmark, at a real OpenSearch
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

// dispatch runs a benchmark, or one of the child processes of the benchmark: the sink, the drain or the sender.
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

// serve listens on a free port and prints the address. It serves until the standard input is closed. So it also exits
// when the benchmark is killed.
func serve(handle func(net.Listener) error) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // listening on the loopback address does not block
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
	flags.StringVar(&o.address, "address", "", "address to send to")
	flags.StringVar(&o.file, "file", "", "newline-delimited JSON: the documents")
	flags.IntVar(&o.flushBytes, "flush-bytes", 2<<20, "size of a bulk request")
	flags.IntVar(&o.workers, "workers", runtime.NumCPU(), "connections")
	flags.DurationVar(&o.time, "time", 3*time.Second, "how long to send")
	_ = flags.Parse(args) // exits on errors
	return o
}

// options are the options of the benchmark at sinks.
type options struct {
	agent, clients string // agent: path of knee-agent; clients: folder of the other loaders
	nginx          string
	runs           int
	strict, static time.Duration // time of one load
	flushBytes     int
	workers        int
	seed           uint64
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench-loader", flag.ExitOnError)
	flags.StringVar(&o.agent, "agent", "bin/knee-agent", "the program whose command load is measured")
	flags.StringVar(&o.clients, "clients", "bin/bench", "folder of the programs goelasticsearch and opensearchgo")
	flags.StringVar(&o.nginx, "nginx", "nginx", "the program nginx; empty: without nginx")
	flags.IntVar(&o.runs, "runs", 10, "loads of each program in each case")
	flags.DurationVar(&o.strict, "time", 3*time.Second, "of one load on the strict sink, whole seconds")
	flags.DurationVar(&o.static, "nginx-time", 2*time.Second, "of one load on nginx, whole seconds")
	flags.IntVar(&o.flushBytes, "flush-bytes", 2<<20, "least size of a bulk request")
	flags.IntVar(&o.workers, "workers", runtime.NumCPU(), "connections of each program")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the order of the programs")
	_ = flags.Parse(args) // exits on errors
	if o.runs < 2 || o.strict < time.Second || o.static < time.Second {
		return o, errors.New("-runs must be at least 2, -time and -nginx-time at least 1s")
	}
	return o, nil
}
