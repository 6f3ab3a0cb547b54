// Package parser parses the output of programs of the command driver. It starts no process.
package parser

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/speakeasy-api/jsonpath/pkg/jsonpath"
	"gopkg.in/yaml.v3"

	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/output"
	"github.com/knee-bench/knee/internal/record"
)

// jsonField is the prefix of the campaign fields that hold the paths.
const jsonField = "spec.workload.command.json."

// ParseJSONFigures reads a program's figures from the last JSON object in its output. The paths follow RFC 9535. Each path
// must select one number, or one string that contains a number. Seconds is 0 if no path selects the duration.
func ParseJSONFigures(output string, figures commandconfig.JSONFigures) (*record.Load, error) {
	object, err := lastObject(output)
	if err != nil {
		return nil, err
	}
	root := &reading{root: node(object)}
	load := &record.Load{Unit: figures.Throughput.Unit, FailuresUncounted: figures.Failures == ""}
	root.number("throughput", figures.Throughput.Path, &load.Rate)
	root.count("operations", figures.Operations, &load.Operations)
	root.count("failures", figures.Failures, &load.Failures)
	root.number("seconds", figures.Seconds, &load.Seconds)
	root.latency(figures, load)
	for _, m := range figures.Metrics {
		metric := record.Metric{Name: m.Name, Unit: m.Unit, Value: new(float64)}
		root.any("metrics["+m.Name+"]", m.Path, metric.Value)
		load.Metrics = append(load.Metrics, metric)
	}
	if root.err != nil {
		return nil, root.err
	}
	if load.Rate == 0 {
		return nil, fmt.Errorf("the program did nothing: its throughput is 0 (%sthroughput: %s)", jsonField, figures.Throughput.Path)
	}
	if figures.Seconds != "" && load.Seconds == 0 {
		return nil, fmt.Errorf("%sseconds: the value at path %s is 0, but the duration must be above 0", jsonField, figures.Seconds)
	}
	load.Notes = ratesOf(load)
	return load, nil
}

// rateTolerance is the largest accepted difference between a program's rate and its operations / seconds, as a share of the
// rate. For a larger difference, ratesOf returns a note.
const rateTolerance = 0.01

// ratesOf returns a note if a program's rate differs from its operations divided by its seconds. A rate in bytes cannot be
// compared, so it gets no note.
func ratesOf(load *record.Load) []string {
	if load.Operations == 0 || load.Seconds == 0 || output.IsBytes(load.Unit) {
		return nil
	}
	if own := float64(load.Operations) / load.Seconds; math.Abs(own-load.Rate) > rateTolerance*load.Rate {
		return []string{fmt.Sprintf("%d operations in %g s are %.6g/s, but the program reports a throughput of %.6g %s", load.Operations, load.Seconds, own, load.Rate, load.Unit)}
	}
	return nil
}

// reading reads the values of paths and collects the errors. So one error message names all wrong paths.
type reading struct {
	root *yaml.Node
	err  error
}

func (r *reading) fail(field, format string, args ...any) {
	r.err = errors.Join(r.err, fmt.Errorf("%s%s: %s", jsonField, field, fmt.Sprintf(format, args...)))
}

// any reads a number, which may be negative. If the path is empty, it does not change the number.
func (r *reading) any(field, path string, to *float64) bool {
	if path == "" {
		return false
	}
	text, err := valueAt(r.root, path)
	if err != nil {
		r.fail(field, "%v", err)
		return false
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) || strings.ContainsAny(text, "xXpP_") {
		r.fail(field, "the value at path %s is %.60q, which is no number", path, text)
		return false
	}
	*to = value
	return true
}

// number reads a number that must be at least 0.
func (r *reading) number(field, path string, to *float64) {
	if r.any(field, path, to) && *to < 0 {
		r.fail(field, "the value at path %s is %v, which is below 0", path, *to)
	}
}

// count reads an integer that must be at least 0.
func (r *reading) count(field, path string, to *int64) {
	var value float64
	r.number(field, path, &value)
	if value != math.Trunc(value) || value > 1<<53 {
		r.fail(field, "the value at path %s is %v, which is no whole number", path, value)
		return
	}
	*to = int64(value)
}

// millis lists the factors that convert units of time to ms.
var millis = map[string]float64{"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}

func (r *reading) latency(figures commandconfig.JSONFigures, load *record.Load) {
	if len(figures.Latency) == 0 {
		return
	}
	unit, known := millis[figures.LatencyUnit]
	if !known {
		r.fail("latency.unit", "the unit %q is not known: use ns, us, ms or s", figures.LatencyUnit)
		return
	}
	var l record.Latency
	fields := map[string]*float64{"mean": &l.Mean, "p50": &l.P50, "p90": &l.P90, "p99": &l.P99, "p999": &l.P999, "max": &l.Max}
	for _, name := range []string{"mean", "p50", "p90", "p99", "p999", "max"} {
		r.number("latency."+name, figures.Latency[name], fields[name])
		*fields[name] *= unit
	}
	for name := range figures.Latency {
		if fields[name] == nil {
			r.fail("latency."+name, "this latency is not known: use mean, p50, p90, p99, p999 or max")
		}
	}
	load.Latency = &l
}

// CheckPath returns an error if a path is not valid.
func CheckPath(path string) error {
	if _, err := jsonpath.NewPath(path); err != nil {
		return fmt.Errorf("is not a valid JSONPath of RFC 9535: %w", err)
	}
	return nil
}

// valueAt returns the text of the number or string that a path selects. The path must select exactly one value.
func valueAt(root *yaml.Node, path string) (string, error) {
	compiled, err := jsonpath.NewPath(path)
	if err != nil {
		return "", fmt.Errorf("the path %s is not a valid JSONPath (RFC 9535): %w", path, err)
	}
	found := compiled.Query(root)
	if len(found) != 1 {
		return "", fmt.Errorf("the path %s selects %d values in the last JSON object that the program printed, but must select exactly one value", path, len(found))
	}
	switch n := found[0]; n.Tag {
	case "!!int", "!!float", "!!str":
		return n.Value, nil
	default:
		return "", fmt.Errorf("the path %s selects %s instead of a number", path, map[string]string{"!!map": "an object", "!!seq": "an array", "!!bool": "true or false", "!!null": "null"}[n.Tag])
	}
}

// node converts a JSON value to a YAML node, the input type of the path library. Numbers keep their original text.
func node(value any) *yaml.Node {
	switch v := value.(type) {
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for name, member := range v {
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, node(member))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, element := range v {
			n.Content = append(n.Content, node(element))
		}
		return n
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(v.String(), ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: v.String()}
	case string:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}

// lastObject returns the last JSON object in a text. The text may contain other text before, between and after objects. Text
// that begins like an object but is not valid JSON is skipped.
func lastObject(text string) (map[string]any, error) {
	var last map[string]any
	rest := []byte(text)
	for {
		open := bytes.IndexByte(rest, '{')
		if open < 0 {
			break
		}
		rest = rest[open:]
		decoder := json.NewDecoder(bytes.NewReader(rest))
		decoder.UseNumber()
		var object map[string]any
		err := decoder.Decode(&object)
		if err == nil {
			last = object
			rest = rest[decoder.InputOffset():]
			continue
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("the last JSON object that the program printed is incomplete")
		}
		var syntax *json.SyntaxError
		skip := 1
		if errors.As(err, &syntax) {
			skip = max(1, int(syntax.Offset)-1)
		}
		rest = rest[min(skip, len(rest)):]
	}
	if last == nil {
		return nil, errors.New("the program printed no JSON object")
	}
	return last, nil
}
