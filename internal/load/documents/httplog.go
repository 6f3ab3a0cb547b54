package documents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// httplogEvents is the number of events that are encoded before the load: 2.5 MB. The load sends them repeatedly.
const httplogEvents = 1024

func makeHTTPLog(seed uint64, action string) *block {
	r := rand.New(rand.NewPCG(seed, 0x68747470))
	clock := newStamps()
	b := &block{}
	for i := range httplogEvents {
		stamp := string(clock.put(make([]byte, timeSize), int64(i)*37))
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(httplogEvent(r, stamp)); err != nil {
			panic(err) // cannot happen: strings and numbers can always be encoded
		}
		b.add(action, bytes.TrimSuffix(text.Bytes(), newline))
	}
	return b
}

// httplogEvent returns one line of a web server's log, with the fields that a log shipper adds.
func httplogEvent(r *rand.Rand, stamp string) map[string]any {
	pick := func(from ...string) string { return from[zipf(r, len(from))] }
	host := fmt.Sprintf("web-%02d", r.IntN(24))
	client := fmt.Sprintf("%d.%d.%d.%d", 1+r.IntN(222), r.IntN(256), r.IntN(256), 1+r.IntN(254))
	version := 120 + r.IntN(20)
	browser := pick("Chrome", "Safari", "Firefox", "Edge")
	system := pick("Windows NT 10.0; Win64; x64", "X11; Linux x86_64", "Macintosh; Intel Mac OS X 10_15_7", "Linux; Android 14; Pixel 8")
	program := fmt.Sprintf("Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) %s/%d.0.0.0 Mobile Safari/537.36", system, browser, version)
	path := "/" + pick("shop", "blog", "docs", "images", "account", "search") + "/" + strings.ReplaceAll(randomSentence(r, 3), " ", "-")
	query := fmt.Sprintf("page=%d&sort=%s&session=%s", 1+zipf(r, 200), pick("newest", "price", "rating"), hexes(r, 32))
	method, status, size := pick("GET", "POST", "HEAD"), []int{200, 200, 200, 200, 304, 301, 404, 500}[r.IntN(8)], 200+int(r.ExpFloat64()*9000)
	seconds := float64(1+int(r.ExpFloat64()*80)) / 1000
	referrer := "https://www.example.org/" + pick("", "shop/", "blog/") + strings.ReplaceAll(randomSentence(r, 2), " ", "-")
	upstream := fmt.Sprintf("10.%d.%d.%d:8080", r.IntN(8), r.IntN(256), r.IntN(256))
	country := pick("DE", "US", "FR", "IN", "BR", "JP", "GB", "NG")
	return map[string]any{
		"@timestamp": stamp,
		"message": fmt.Sprintf(`%s - - [%s] "%s %s?%s HTTP/1.1" %d %d "%s" "%s" rt=%.3f uct=0.000 uht=%.3f urt=%.3f`,
			client, stamp, method, path, query, status, size, referrer, program, seconds, seconds, seconds),
		"service": map[string]any{"name": "storefront", "environment": "production", "version": fmt.Sprintf("4.%d.%d", r.IntN(9), r.IntN(20))},
		"host": map[string]any{
			"name": host + ".example.org", "ip": fmt.Sprintf("10.1.%d.%d", r.IntN(4), r.IntN(256)), "architecture": "x86_64",
			"os": map[string]any{"name": "Debian GNU/Linux", "version": "12 (bookworm)", "kernel": "6.1.0-28-amd64"},
		},
		"log": map[string]any{"file": "/var/log/nginx/" + host + ".access.log", "offset": r.IntN(1 << 30), "level": "info"},
		"source": map[string]any{
			"ip": client, "port": 1024 + r.IntN(60000), "country": country, "city": pick("Berlin", "Chicago", "Lyon", "Pune", "Recife", "Osaka", "Leeds", "Lagos"),
			"location": map[string]any{"lat": float64(r.IntN(140)-60) + 0.25, "lon": float64(r.IntN(360)-180) + 0.5},
			"network":  map[string]any{"number": 1000 + r.IntN(60000), "organization": pick("Example Telecom", "Sample Networks", "Documentation Cable", "Test Mobile")},
		},
		"http": map[string]any{
			"version": "1.1",
			"request": map[string]any{
				"method": method, "id": hexes(r, 32), "referrer": referrer, "bytes": 300 + r.IntN(900),
				"headers": map[string]any{"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8", "accept-encoding": "gzip, deflate, br", "accept-language": pick("en-US,en;q=0.5", "de-DE,de;q=0.8,en;q=0.5"), "cache-control": "max-age=0", "cookie": "session=" + hexes(r, 32) + "; visitor=" + hexes(r, 32) + "; consent=necessary.statistics.marketing; theme=dark; currency=EUR", "x-forwarded-for": client + ", 10.0.0.7"},
			},
			"response": map[string]any{
				"status": status, "bytes": size, "seconds": seconds,
				"headers": map[string]any{"content-type": pick("text/html; charset=utf-8", "application/json", "image/webp"), "content-encoding": "gzip", "vary": "Accept-Encoding, Cookie", "referrer-policy": "strict-origin-when-cross-origin", "strict-transport-security": "max-age=31536000; includeSubDomains", "x-request-id": hexes(r, 32)},
			},
		},
		"url":      map[string]any{"original": path + "?" + query, "domain": "www.example.org", "path": path, "query": query},
		"agent":    map[string]any{"original": program, "name": browser, "version": fmt.Sprintf("%d.0.0.0", version), "system": system, "device": pick("Desktop", "Mobile", "Tablet")},
		"tls":      map[string]any{"protocol": "TLSv1.3", "cipher": pick("TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256")},
		"upstream": map[string]any{"address": upstream, "status": status, "seconds": seconds, "cache": pick("MISS", "HIT", "EXPIRED")},
		"tags":     []string{"nginx", "access", "edge-" + country},
	}
}
