package documents

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// otelRecords is the number of records that are encoded before the load: 13 MiB. The load sends them repeatedly, each time
// with new IDs and times.
const otelRecords = 8192

// otelRecord is an OpenTelemetry log record in the flat form of a collector's exporter: OTLP fields in JSON, with attributes
// as maps. IDs and times are the first fields and have fixed lengths. So they have the same positions in every record.
type otelRecord struct {
	TraceID                string            `json:"traceId"`
	SpanID                 string            `json:"spanId"`
	Time                   string            `json:"time"`
	ObservedTime           string            `json:"observedTime"`
	SeverityText           string            `json:"severityText"`
	SeverityNumber         int               `json:"severityNumber"`
	Flags                  int               `json:"flags"`
	ServiceName            string            `json:"serviceName"`
	SchemaURL              string            `json:"schemaUrl"`
	Body                   string            `json:"body"`
	Attributes             map[string]string `json:"attributes"`
	DroppedAttributesCount int               `json:"droppedAttributesCount"`
	Resource               otelResource      `json:"resource"`
	InstrumentationScope   otelScope         `json:"instrumentationScope"`
}

type otelResource struct {
	Attributes             map[string]string `json:"attributes"`
	DroppedAttributesCount int               `json:"droppedAttributesCount"`
}

type otelScope struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Positions and lengths of the fields that patchOTel writes, in bytes from the start of the document:
// {"traceId":"…","spanId":"…","time":"…",…
const (
	traceAt    = len(`{"traceId":"`)
	traceSize  = 32
	spanAt     = traceAt + traceSize + len(`","spanId":"`)
	spanSize   = 16
	timeAt     = spanAt + spanSize + len(`","time":"`)
	timeSize   = len("2025-01-01T00:00:00.000Z")
	observedAt = timeAt + timeSize + len(`","observedTime":"`)
)

func makeOTel(seed uint64, action string) *block {
	r := rand.New(rand.NewPCG(seed, 0x6f74656c))
	services := otelServices(r)
	b := &block{}
	for range otelRecords {
		text, err := json.Marshal(services[zipf(r, len(services))].record(r))
		if err != nil {
			panic(err) // cannot happen: strings and numbers can always be encoded
		}
		b.add(action, text)
	}
	return b
}

// patchOTel returns a function that writes unique IDs and times into a record. The time depends on the number of the record:
// one record per millisecond.
func patchOTel(seed uint64) func([]byte, int64) {
	clock := newStamps()
	return func(document []byte, number int64) {
		a := mix(uint64(number) ^ mix(seed)) // mix is a bijection, so different numbers give different IDs
		hex16(document[spanAt:], a)
		hex16(document[traceAt:], mix(a))
		hex16(document[traceAt+16:], a^seed)
		clock.put(document[timeAt:], number)
		clock.put(document[observedAt:], number+1+int64(a&0xf)) // simulates the delay of a collector
	}
}

// otelService is a simulated program that writes logs.
type otelService struct {
	name, version, language, scope string
	hosts                          []map[string]string
}

const (
	otelServiceCount = 48
	otelHostCount    = 12 // for each service
)

func otelServices(r *rand.Rand) []otelService {
	nouns := strings.Fields("cart checkout payment shipping quote currency product recommendation advertisement email fraud accounting")
	kinds := strings.Fields("service gateway worker cache")
	languages := strings.Fields("go java python dotnet nodejs rust")
	regions := strings.Fields("eu-west-1 eu-central-1 us-east-1 us-west-2")
	out := make([]otelService, otelServiceCount)
	for i := range out {
		s := otelService{
			name:     nouns[i%len(nouns)] + "-" + kinds[i/len(nouns)],
			version:  fmt.Sprintf("%d.%d.%d", 1+r.IntN(4), r.IntN(20), r.IntN(10)),
			language: languages[r.IntN(len(languages))],
		}
		s.scope = "io.shop." + strings.ReplaceAll(s.name, "-", ".") + ".Logging"
		replicas := hexes(r, 10)
		for range otelHostCount {
			region := regions[r.IntN(len(regions))]
			node := fmt.Sprintf("ip-10-%d-%d-%d.%s.compute.internal", r.IntN(32), r.IntN(256), r.IntN(256), region)
			pod := s.name + "-" + replicas + "-" + hexes(r, 5)
			s.hosts = append(s.hosts, map[string]string{
				"service.name": s.name, "service.namespace": "shop", "service.version": s.version, "service.instance.id": hexes(r, 32),
				"telemetry.sdk.language": s.language, "telemetry.sdk.name": "opentelemetry", "telemetry.sdk.version": "1.38.0",
				"k8s.cluster.name": "shop-" + region, "k8s.namespace.name": "shop-production", "k8s.deployment.name": s.name, "k8s.pod.name": pod,
				"k8s.pod.uid": hexes(r, 8) + "-" + hexes(r, 4) + "-" + hexes(r, 4) + "-" + hexes(r, 4) + "-" + hexes(r, 12), "k8s.node.name": node,
				"container.id": hexes(r, 64), "host.name": node, "cloud.provider": "aws", "cloud.region": region,
				"cloud.availability_zone": region + string(rune('a'+r.IntN(3))), "deployment.environment": "production", "os.type": "linux",
			})
		}
		out[i] = s
	}
	return out
}

// severities lists the severities. share is the number of records with this severity among 1,000.
var severities = []struct {
	text   string
	number int
	share  int
}{{"INFO", 9, 780}, {"DEBUG", 5, 120}, {"WARN", 13, 70}, {"ERROR", 17, 28}, {"FATAL", 21, 2}}

func (s otelService) record(r *rand.Rand) otelRecord {
	severity := severities[0]
	for at, i := r.IntN(1000), 0; i < len(severities); i++ {
		if severity = severities[i]; at < severity.share {
			break
		}
		at -= severity.share
	}
	blank := strings.Repeat("0", traceSize)
	stamp := string(newStamps().put(make([]byte, timeSize), 0))
	out := otelRecord{
		TraceID: blank, SpanID: blank[:spanSize], Time: stamp, ObservedTime: stamp,
		SeverityText: severity.text, SeverityNumber: severity.number, Flags: r.IntN(2),
		ServiceName: s.name, SchemaURL: "https://opentelemetry.io/schemas/1.38.0",
		Attributes:           map[string]string{},
		Resource:             otelResource{Attributes: s.hosts[zipf(r, len(s.hosts))]},
		InstrumentationScope: otelScope{Name: s.scope, Version: s.version},
	}
	path := fmt.Sprintf("/api/v%d/%s/%d", 1+r.IntN(3), strings.SplitN(s.name, "-", 2)[0], r.IntN(100_000))
	status := []int{200, 200, 200, 200, 201, 204, 304, 404}[r.IntN(8)]
	if severity.number >= 17 {
		status = 500 + r.IntN(5)
	}
	method := []string{"GET", "GET", "GET", "POST", "PUT", "DELETE"}[r.IntN(6)]
	out.Attributes["http.request.method"] = method
	out.Attributes["url.path"] = path
	out.Attributes["http.response.status_code"] = fmt.Sprint(status)
	out.Attributes["client.address"] = fmt.Sprintf("%d.%d.%d.%d", 1+r.IntN(222), r.IntN(256), r.IntN(256), 1+r.IntN(254))
	out.Attributes["enduser.id"] = fmt.Sprintf("u-%07d", zipf(r, 2_000_000))
	out.Attributes["thread.name"] = fmt.Sprintf("worker-%d", r.IntN(64))
	out.Body = fmt.Sprintf("%s %s answered %d in %d ms: %s", method, path, status, 1+int(r.ExpFloat64()*40), randomSentence(r, 4+zipf(r, otelWords)))
	if severity.number >= 17 {
		out.Attributes["exception.type"] = "io.shop." + []string{"Timeout", "Connection", "Validation", "State"}[r.IntN(4)] + "Exception"
		out.Attributes["exception.stacktrace"] = randomStack(r, s.scope)
	}
	return out
}

// otelWords limits the number of words in a body, so that records have 1.6 KiB on average.
const otelWords = 24

// randomStack returns the stack trace of an exception with 8 to 23 calls.
func randomStack(r *rand.Rand, scope string) string {
	var out strings.Builder
	for range 8 + r.IntN(16) {
		fmt.Fprintf(&out, "\tat %s.%s(%s.java:%d)\n", scope, words[r.IntN(len(words))], words[r.IntN(len(words))], 1+r.IntN(900))
	}
	return out.String()
}

// stamps formats times. The time 0 is the start of the year 2025, UTC.
type stamps struct {
	day  int64 // the day whose date is in text
	text [11]byte
}

var stampsFrom = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)

// stampsSpan limits the milliseconds of a time to two years and two months. So the year always has four digits.
const stampsSpan = 1 << 36

func newStamps() *stamps { return &stamps{day: -1} }

// put writes the time that is ms milliseconds after the time 0, for example 2025-01-01T00:00:00.000Z.
func (s *stamps) put(into []byte, ms int64) []byte {
	ms &= stampsSpan - 1
	const dayLength = 24 * 60 * 60 * 1000
	if day := ms / dayLength; day != s.day {
		s.day = day
		stampsFrom.AddDate(0, 0, int(day)).AppendFormat(s.text[:0], "2006-01-02T")
	}
	ms %= dayLength
	copy(into, s.text[:])
	second := ms / 1000
	digits2(into[11:], second/3600)
	into[13] = ':'
	digits2(into[14:], second/60%60)
	into[16] = ':'
	digits2(into[17:], second%60)
	into[19] = '.'
	into[20] = '0' + byte(ms%1000/100)
	digits2(into[21:], ms%100)
	into[23] = 'Z'
	return into
}

func digits2(into []byte, n int64) {
	_ = into[1]
	into[0], into[1] = '0'+byte(n/10), '0'+byte(n%10)
}
