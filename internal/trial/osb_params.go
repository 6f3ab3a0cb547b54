package trial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

// topologyParams are the parameters that Knee gives every workload. The program refuses a parameter that no template of the
// workload uses, and no official workload uses all of them: see findUnusedParams.
var topologyParams = []string{"number_of_shards", "number_of_replicas", "refresh_interval"}

// findUnusedParams sets d.unused to those of topologyParams that no template of the workload uses. Later calls of the program omit
// them, and an index template of Knee's sets their values. An unused parameter of the user stays: the program reports it when
// it loads.
func (d *osbDriver) findUnusedParams(ctx context.Context) error {
	if d.run.WorkloadPath != "" && usesAllTopologyParams(d.run.WorkloadPath) {
		return nil // avoids a call of the program, which takes seconds
	}
	run := d.run
	run.Workload, run.Procedure = d.a.Config.OSB.Workload, d.a.Config.OSB.TestProcedure
	run.ParamsFile = filepath.Join(d.a.Work, "params.json")
	if err := d.writeParams(run.ParamsFile); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cloneTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.program, run.InfoArgs()...)
	cmd.Env = append(environment(), run.Env(d.a.temp())...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("opensearch-benchmark info on the workload of spec.workload.osb: %w", ctx.Err())
	}
	if err != nil {
		d.noteUnusedParams(string(out)) // any other error ends the load as well, which reports it
	}
	return d.removeLog(run)
}

// noteUnusedParams adds to d.unused those of topologyParams that the program refused in this output. It reports whether there are
// any.
func (d *osbDriver) noteUnusedParams(output string) bool {
	before := len(d.unused)
	for _, name := range driver.UnusedOSBParams(output) {
		if slices.Contains(topologyParams, name) && !slices.Contains(d.unused, name) {
			d.unused = append(d.unused, name)
		}
	}
	if len(d.unused) == before {
		return false
	}
	d.a.say("no template of the workload uses the parameters %v: an index template of Knee's sets them", d.unused)
	return true
}

// removeLog removes the program's log: later readers expect lines of the load only.
func (d *osbDriver) removeLog(run driver.OSBRun) error {
	if err := os.Remove(run.LogPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// writeParams writes the file of the workload's parameters, without those that the workload does not use.
func (d *osbDriver) writeParams(path string) error {
	values, err := loadParams(d.a.Config, d.a.part)
	if err != nil {
		return err
	}
	for _, name := range d.unused {
		delete(values, name)
	}
	data, err := driver.OSBParams(values)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the parameters of spec.workload.osb.params: %w", err)
	}
	return nil
}

var (
	comment     = regexp.MustCompile(`(?s)\{#.*?#\}`)
	setTargets  = regexp.MustCompile(`^\{%[-+]?\s*set\s+([^=%]*)`)
	templateTag = regexp.MustCompile(`(?s)\{\{.*?\}\}|\{%.*?%\}`)
	quotedText  = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	identifier  = regexp.MustCompile(`\.?[A-Za-z_][A-Za-z0-9_]*`)
)

// usesAllTopologyParams reports whether the templates of a workload use all of topologyParams, those of common operations among them. A
// parameter that a template assigns counts as not used: the program may refuse it.
func usesAllTopologyParams(folder string) bool {
	used, assigned := map[string]bool{}, map[string]bool{}
	for _, root := range []string{folder, filepath.Join(filepath.Dir(folder), record.CommonOperations)} {
		_ = filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || filepath.Ext(path) != ".json" {
				return nil // a file that cannot be read counts as one that uses no parameter
			}
			if info, err := e.Info(); err != nil || info.Size() >= bigFile {
				return nil
			}
			if data, err := os.ReadFile(path); err == nil {
				collectVariables(data, used, assigned)
			}
			return nil
		})
	}
	return !slices.ContainsFunc(topologyParams, func(name string) bool { return !used[name] || assigned[name] })
}

// collectVariables notes the variables in the tags of a template, and those that a set assigns. A name in quotes is no variable.
func collectVariables(template []byte, used, assigned map[string]bool) {
	for _, tag := range templateTag.FindAll(comment.ReplaceAll(template, nil), -1) {
		if set := setTargets.FindSubmatch(tag); set != nil {
			for _, name := range identifier.FindAll(set[1], -1) {
				assigned[string(name)] = true
			}
		}
		for _, name := range identifier.FindAll(quotedText.ReplaceAll(tag, nil), -1) {
			used[string(name)] = true
		}
	}
}
