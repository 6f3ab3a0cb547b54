// Command probe is the program in the image that check.sh uses to test the cluster: an HTTP server, and the few
// commands that the checks need.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	command, args := args[0], append(args[1:], "", "")
	switch command {
	case "serve":
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "hello from %s\n", host) })
		fmt.Println("serving on :8080")
		return http.ListenAndServe(":8080", nil)
	case "get":
		return get(args[0])
	case "reach": // prints whether a connection is answered; network policies drop packets, so a blocked connection gets no answer
		dialer := net.Dialer{Timeout: 3 * time.Second}
		conn, err := dialer.DialContext(context.Background(), "tcp", args[0])
		if err != nil {
			return err
		}
		return conn.Close()
	case "lookup":
		addresses, err := net.DefaultResolver.LookupHost(context.Background(), args[0])
		fmt.Println(addresses)
		return err
	case "cat":
		data, err := os.ReadFile(args[0])
		fmt.Print(string(data))
		return err
	case "write":
		return os.WriteFile(args[0], []byte(args[1]), 0o644)
	case "id":
		fmt.Println(os.Getuid(), os.Getgid())
		return nil
	case "files":
		var limit syscall.Rlimit
		err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
		fmt.Println(limit.Max)
		return err
	case "hog":
		return hog()
	case "sleep":
		d, err := time.ParseDuration(args[0])
		if err != nil {
			return err
		}
		time.Sleep(d)
		return nil
	}
	return fmt.Errorf("no command %q", command)
}

// get repeats a request for up to 30 seconds, because names and endpoints follow their pods with a delay.
func get(url string) error {
	client := &http.Client{Timeout: 2 * time.Second}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err == nil {
			defer response.Body.Close()
			_, err = io.Copy(os.Stdout, response.Body)
			return err
		}
		if time.Now().After(end) {
			return err
		}
	}
}

// hog allocates memory until it is killed.
func hog() error {
	var taken [][]byte
	for {
		block := make([]byte, 8<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		taken = append(taken, block)
		if len(taken) > 1<<12 {
			return fmt.Errorf("took %d MiB without being stopped", len(taken)*8)
		}
	}
}
