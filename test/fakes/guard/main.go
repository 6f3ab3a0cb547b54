// Command guard is a STAND-IN for OpenSearch's security plugin: a reverse proxy with TLS and basic authentication before a
// cluster that has neither. It knows one user, who may do everything.
package main

import (
	"crypto/subtle"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	listen := flag.String("listen", ":9443", "address to listen on")
	target := flag.String("target", "", "URL of the cluster behind")
	certificate := flag.String("certificate", "", "folder with tls.crt and tls.key")
	login := flag.String("login", "", "folder with username and password; empty: everybody may pass")
	flag.Parse()
	handler, err := guard(*target, *login)
	if err != nil {
		log.Fatal(err)
	}
	server := http.Server{Addr: *listen, Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	log.Print(server.ListenAndServeTLS(filepath.Join(*certificate, "tls.crt"), filepath.Join(*certificate, "tls.key")))
	os.Exit(1)
}

// guard passes on what the one user asks.
func guard(target, login string) (http.Handler, error) {
	behind, err := url.Parse(target)
	if err != nil || behind.Host == "" {
		return nil, fmt.Errorf("--target %q is not a URL", target)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	if login == "" {
		return proxy, nil
	}
	user, err := read(login, "username")
	if err != nil {
		return nil, err
	}
	password, err := read(login, "password")
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, p, _ := r.BasicAuth()
		if subtle.ConstantTimeCompare([]byte(u), []byte(user))&subtle.ConstantTimeCompare([]byte(p), []byte(password)) == 0 {
			w.Header().Set("WWW-Authenticate", `Basic realm="stand-in"`)
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}), nil
}

func read(folder, name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(folder, name))
	return strings.TrimSpace(string(data)), err
}
