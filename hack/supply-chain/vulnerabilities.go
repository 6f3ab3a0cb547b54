package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// vulnerabilityCheck runs govulncheck on Knee's packages. The database is a Go module of a fixed version, which Go
// verifies like every module. So the result depends only on the checked-out code.
type vulnerabilityCheck struct {
	govulncheck string
	database    string
	exceptions  string
	cache       string
}

// exception accepts a finding until a date.
type exception struct {
	id, reason string
	until      time.Time
}

// finding is a known vulnerability in code that Knee calls.
type finding struct {
	id, fixed, module, call string
}

func (c vulnerabilityCheck) run() error {
	exceptions, err := readExceptions(c.exceptions)
	if err != nil {
		return err
	}
	dated, err := pseudoVersionDate(c.database)
	if err != nil {
		return err
	}
	dir, err := c.download()
	if err != nil {
		return fmt.Errorf("NOT CHECKED: the vulnerability database cannot be downloaded: %w", err)
	}
	out, err := c.scan(filepath.Join(dir, "data", "osv"))
	if err != nil {
		return fmt.Errorf("NOT CHECKED: %w", err)
	}
	known, uncalled, findings, err := readFindings(bytes.NewReader(out))
	if err != nil {
		return fmt.Errorf("NOT CHECKED: %w", err)
	}
	// The standard library alone has hundreds of old entries. Zero entries mean that the database was not read.
	if known == 0 {
		return errors.New("NOT CHECKED: the vulnerability database has no entry for any module in use")
	}
	fmt.Printf("vulnerabilities: database of %s (%d days old); %d entries for modules in use, %d for the versions in use but not called, %d called\n",
		dated.Format(time.DateOnly), int(time.Since(dated).Hours()/24), known, uncalled, len(findings))
	return applyExceptions(findings, exceptions, time.Now())
}

// download returns the folder of the database in the module cache.
func (c vulnerabilityCheck) download() (string, error) {
	out, err := command("go", "mod", "download", "-json", "golang.org/x/vulndb@"+c.database)
	var answer struct{ Dir, Error string }
	if json.Unmarshal(out, &answer) == nil && answer.Error != "" {
		return "", errors.New(answer.Error)
	}
	return answer.Dir, err
}

// scan returns the output of govulncheck. If neither the code nor the database has changed, it returns the cached
// output.
func (c vulnerabilityCheck) scan(database string) ([]byte, error) {
	// govulncheck accepts a flat folder of OSV entries and builds the index itself.
	args := []string{"-format=json", "-db=file://" + database, "./..."}
	inputs, err := digestOfCode(".", append([]string{c.govulncheck, goVersion()}, args...))
	if err != nil {
		return nil, err
	}
	kept := filepath.Join(c.cache, "govulncheck-"+inputs[:16]+".json")
	if out, err := os.ReadFile(kept); err == nil {
		return out, nil
	}
	out, err := command(c.govulncheck, args...)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.cache, 0o755); err != nil {
		return nil, err
	}
	// Rename the complete file, so no program reads an incomplete one.
	if err := os.WriteFile(kept+".new", out, 0o644); err != nil {
		return nil, err
	}
	return out, os.Rename(kept+".new", kept)
}

// digestOfCode returns a digest of the texts in words, and of all Go files and module files. Tests are left out.
func digestOfCode(root string, words []string) (string, error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n", words)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := filepath.Base(path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"bin", "dist"}, path)):
			return filepath.SkipDir
		case entry.IsDir() || strings.HasSuffix(name, "_test.go") || !strings.HasSuffix(name, ".go") && name != "go.mod" && name != "go.sum":
			return nil
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(hash, "%s %x\n", path, sha256.Sum256(data))
		return err
	})
	return fmt.Sprintf("%x", hash.Sum(nil)), err
}

// pseudoVersionDate returns the time in a version such as v0.0.0-20260813214354-9de686e1fb00.
func pseudoVersionDate(version string) (time.Time, error) {
	parts := strings.Split(version, "-")
	if len(parts) != 3 {
		return time.Time{}, fmt.Errorf("-database %q is not a version with a date, such as v0.0.0-20260813214354-9de686e1fb00", version)
	}
	return time.Parse("20060102150405", parts[1])
}

// readFindings reads the output of govulncheck. known is the number of entries for modules in use. uncalled is the
// number of entries that apply to the versions in use, but whose code is not called. called lists the entries whose
// code is called, each once.
func readFindings(r io.Reader) (known, uncalled int, called []finding, err error) {
	present := map[string]bool{}
	for decoder := json.NewDecoder(r); ; {
		var message struct {
			OSV     *struct{ ID string }
			Finding *struct {
				OSV   string
				Fixed string `json:"fixed_version"`
				Trace []struct{ Module, Version, Package, Function, Receiver string }
			}
		}
		if err := decoder.Decode(&message); errors.Is(err, io.EOF) {
			return known, len(present) - len(called), called, nil
		} else if err != nil {
			return 0, 0, nil, fmt.Errorf("govulncheck's output: %w", err)
		}
		if message.OSV != nil {
			known++
		}
		found := message.Finding
		if found == nil || len(found.Trace) == 0 {
			continue
		}
		present[found.OSV] = true
		symbol, caller := found.Trace[0], found.Trace[len(found.Trace)-1]
		isDuplicate := slices.ContainsFunc(called, func(f finding) bool { return f.id == found.OSV })
		if symbol.Function == "" || isDuplicate {
			continue
		}
		called = append(called, finding{id: found.OSV, fixed: found.Fixed, module: symbol.Module + "@" + symbol.Version,
			call: symbol.Package + "." + strings.TrimPrefix(symbol.Receiver+".", ".") + symbol.Function + " from " + caller.Package + "." + caller.Function})
	}
}

// readExceptions reads lines of the form `ID YYYY-MM-DD reason`.
func readExceptions(file string) ([]exception, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var exceptions []exception
	for lines := bufio.NewScanner(f); ; {
		if !lines.Scan() {
			return exceptions, lines.Err()
		}
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.SplitN(line, " ", 3)
		if len(fields) < 3 {
			return nil, fmt.Errorf("%s: %q does not have the form ID YYYY-MM-DD reason", file, line)
		}
		until, err := time.Parse(time.DateOnly, fields[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", file, line, err)
		}
		exceptions = append(exceptions, exception{id: fields[0], until: until, reason: fields[2]})
	}
}

// applyExceptions fails on findings without a valid exception, and on exceptions without a finding.
func applyExceptions(findings []finding, exceptions []exception, now time.Time) error {
	var problems []error
	used := map[string]bool{}
	for _, f := range findings {
		i := slices.IndexFunc(exceptions, func(e exception) bool { return e.id == f.id })
		used[f.id] = true
		advice := "no version fixes it yet"
		if f.fixed != "" {
			advice = "fixed in " + f.fixed
		}
		switch {
		case i < 0:
			problems = append(problems, fmt.Errorf("%s in %s is called: %s; %s (https://pkg.go.dev/vuln/%s)", f.id, f.module, f.call, advice, f.id))
		case now.After(exceptions[i].until.AddDate(0, 0, 1)):
			problems = append(problems, fmt.Errorf("%s in %s is called: %s; %s; its exception ended on %s", f.id, f.module, f.call, advice, exceptions[i].until.Format(time.DateOnly)))
		default:
			fmt.Printf("  accepted until %s: %s in %s: %s\n", exceptions[i].until.Format(time.DateOnly), f.id, f.module, exceptions[i].reason)
		}
	}
	for _, e := range exceptions {
		if !used[e.id] {
			problems = append(problems, fmt.Errorf("the exception for %s has no finding: remove it", e.id))
		}
	}
	return errors.Join(problems...)
}
