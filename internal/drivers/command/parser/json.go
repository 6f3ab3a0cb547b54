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
)

// ParseJSON reads a program's figures from the last JSON object in its output. The paths follow RFC 9535. Each path must select
// one number, or one string that contains a number. Seconds of the load is 0 if no path selects the duration.
func ParseJSON(text string, figures commandconfig.Figures) (Result, error) {
	object, err := lastObject(text)
	if err != nil {
		return Result{}, err
	}
	return read(&reading{source: jsonSource{node(object)}, field: "spec.workload.command.json."}, figures)
}

// jsonSource is a JSON object. The selectors are paths.
type jsonSource struct{ root *yaml.Node }

func (jsonSource) selector() string { return "path" }

func (s jsonSource) number(path, _ string, _ bool) (value, resolution float64, err error) {
	text, err := valueAt(s.root, path)
	if err != nil {
		return 0, 0, err
	}
	value, err = strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) || strings.ContainsAny(text, "xXpP_") {
		return 0, 0, fmt.Errorf("the value at path %s is %.60q, which is no number", path, text)
	}
	return value, 0, nil
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
