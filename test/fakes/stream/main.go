// Command stream is a FAKE of an OpenSearch cluster with the Benchmark API of the stream transport: the real plugin is an
// example that is in no distribution. See package benchmarkapi.
package main

import (
	"flag"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/knee-bench/knee/test/fakes/benchmarkapi"
)

func main() {
	var c benchmarkapi.Cluster
	listen := flag.String("listen", ":9200", "address to listen on")
	flag.IntVar(&c.Nodes, "nodes", 2, "nodes that the cluster says it has")
	flag.DurationVar(&c.Regular, "regular", 30*time.Millisecond, "that the regular transport takes for 1,000 rows")
	flag.DurationVar(&c.Stream, "stream", 20*time.Millisecond, "that the stream transport takes for 1,000 rows; 0: the cluster has none")
	flag.IntVar(&c.AtOnce, "at-once", 4, "requests that are under way at once")
	flag.IntVar(&c.FailEvery, "fail-every", 0, "every so many requests one fails; 0: none")
	flag.Parse()
	log.Print("this is a fake of an OpenSearch cluster with the Benchmark API: it transports nothing")
	server := http.Server{Addr: *listen, Handler: c.Handler(), ReadHeaderTimeout: 10 * time.Second}
	log.Print(server.ListenAndServe())
	os.Exit(1)
}
