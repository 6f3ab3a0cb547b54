// Package claims checks the printed figures of five documents against each other. For example, it compares a ratio with
// its two numbers, a mean with its runs, and a rate with its count and its seconds. It uses only the figures in
// test/studies/data, and no code of Knee.
package claims

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/knee-bench/knee/test/studies/data"
)

// Figure is a number or a short label as a document prints it.
type Figure struct {
	Place   string // section or table, and the meaning of the figure
	Printed string // without thousands separators and signs such as ~
}

// Figures are the figures of one document by key.
type Figures map[string]Figure

// sources maps a document to the function that reads its figures from the files.
var sources = map[string]func(Figures) error{
	"000": func(f Figures) error {
		return f.addTable("1-arm-vs-intel.csv", []string{"variant", "clients"}, func(row []string) string {
			section := map[string]string{"arm": "16.1", "intel": "16.2"}[row[0]]
			return section + ": " + row[0] + ", " + row[1] + " clients"
		})
	},
	"001": func(f Figures) error {
		for _, transport := range []string{"stream", "regular"} {
			if err := f.addReply(transport, "2-"+transport+"-reply.json"); err != nil {
				return err
			}
		}
		return nil
	},
	"002": func(f Figures) error {
		return f.addTable("3-instance-types.csv", []string{"topology", "clients", "variant"}, func(row []string) string {
			configuration := map[string]string{"6n12p": "1", "6n48p": "2", "12n96p": "3"}[row[0]]
			return "configuration " + configuration + ", " + row[1] + " jobs: " + row[2]
		})
	},
	"003": func(f Figures) error {
		for _, runs := range []string{"small", "httplog", "mock"} {
			err := f.addTable("4-bulk-"+runs+".csv", []string{"run"}, func(row []string) string { return runs + ": run " + row[0] }, runs)
			if err != nil {
				return err
			}
		}
		return nil
	},
	"004": func(f Figures) error {
		for _, flow := range []string{"new", "old"} {
			if err := f.addFreon(flow, "5-ozone-"+flow+"-flow.txt"); err != nil {
				return err
			}
		}
		return nil
	},
}

// Load reads the figures of a document: "000" to "004", which are studies 1 to 5.
func Load(document string) (Figures, error) {
	add, ok := sources[document]
	if !ok {
		return nil, fmt.Errorf("no document %q", document)
	}
	f := Figures{}
	if err := f.addClaims(fmt.Sprintf("%c-claims.csv", document[2]+1)); err != nil {
		return nil, err
	}
	return f, add(f)
}

func (f Figures) add(key, place, printed string) error {
	if _, twice := f[key]; twice {
		return fmt.Errorf("figure %q is there twice", key)
	}
	f[key] = Figure{Place: place, Printed: printed}
	return nil
}

// addClaims adds the figures that are not in tables. The columns of the file are key, place and printed.
func (f Figures) addClaims(file string) error {
	lines, err := readCSV(file)
	if err != nil {
		return err
	}
	for _, l := range lines[1:] {
		if err := f.add(l[0], l[1], l[2]); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// addTable adds the cells of a table, except empty ones. The key of a cell consists of prefix, the values of the row in
// the columns keys, and the column name, joined by dots.
func (f Figures) addTable(file string, keys []string, place func(row []string) string, prefix ...string) error {
	lines, err := readCSV(file)
	if err != nil {
		return err
	}
	for _, l := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = l[i]
		}
		var names []string
		for _, k := range keys {
			names = append(names, row[k])
			delete(row, k)
		}
		for name, cell := range row {
			if cell == "" {
				continue
			}
			key := strings.Join(append(append(append([]string{}, prefix...), names...), name), ".")
			if err := f.add(key, place(names)+", "+name, cell); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return nil
}

// addReply adds the fields of a JSON reply.
func (f Figures) addReply(prefix, file string) error {
	text, err := data.Files.ReadFile(file)
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var latencies map[string]json.RawMessage
	if err := json.Unmarshal(fields["latency_ms"], &latencies); err != nil {
		return fmt.Errorf("%s: latency_ms: %w", file, err)
	}
	delete(fields, "latency_ms")
	for name, value := range latencies {
		fields["latency_ms."+name] = value
	}
	for name, value := range fields {
		if err := f.add(prefix+"."+name, "reply of the "+prefix+" transport: "+name, strings.Trim(string(value), `"`)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// freonFigure matches a line of freon's summary that contains a number.
var freonFigure = regexp.MustCompile(`(?m)^\s*([^=<:\n]+?)\s*(?:<?=|:)\s*([0-9.]+)`)

// addFreon adds the figures of freon's summary.
func (f Figures) addFreon(prefix, file string) error {
	text, err := data.Files.ReadFile(file)
	if err != nil {
		return err
	}
	for _, m := range freonFigure.FindAllStringSubmatch(string(text), -1) {
		if err := f.add(prefix+"."+m[1], prefix+" flow: "+m[1], m[2]); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func readCSV(file string) ([][]string, error) {
	text, err := data.Files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(lines) < 2 {
		return nil, fmt.Errorf("%s has no rows", file)
	}
	return lines, nil
}
