package osb

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

	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
)

// topologyParams lists the parameters that Knee passes to every workload. The program refuses a parameter that no template of
// the workload uses, and no official workload uses all of them. See findUnusedParams.
var topologyParams = []string{"number_of_shards", "number_of_replicas", "refresh_interval"}

// findUnusedParams sets d.unused to those topologyParams that no template of the workload uses. Later calls of the program
// omit these parameters, and Knee's index template sets their values. A parameter of the user is never omitted: if it is
// unused, the program reports it when it starts.
func (d *Driver) findUnusedParams(ctx context.Context) error {
	if d.run.WorkloadPath != "" && usesAllTopologyParams(d.run.WorkloadPath) {
		return nil // saves a call of the program, which takes seconds
	}
	run := d.run
	run.Workload, run.Procedure = d.config.Workload, d.config.TestProcedure
	run.ParamsFile = filepath.Join(d.session.Dirs.Work, "params.json")
	if err := d.writeParams(run.ParamsFile); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cloneTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.program, run.InfoArgs()...)
	cmd.Env = append(process.Environment(), run.Env(d.session.Dirs.Temp())...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("the command opensearch-benchmark info did not finish while it read the workload (spec.workload.osb): %w", ctx.Err())
	}
	if err != nil {
		d.noteUnusedParams(string(out)) // ignore any other error: the load will fail with the same error and report it
	}
	return d.removeLog(run)
}

// noteUnusedParams adds to d.unused those topologyParams that the program refused according to its output. It reports whether
// it added a parameter.
func (d *Driver) noteUnusedParams(output string) bool {
	before := len(d.unused)
	for _, name := range osbtool.UnusedParams(output) {
		if slices.Contains(topologyParams, name) && !slices.Contains(d.unused, name) {
			d.unused = append(d.unused, name)
		}
	}
	if len(d.unused) == before {
		return false
	}
	d.session.Say("the workload does not use the parameters %v: Knee sets their values with an index template instead", d.unused)
	return true
}

// removeLog removes the program's log, because the log must later contain only lines of the load.
func (d *Driver) removeLog(run osbtool.Run) error {
	if err := os.Remove(run.LogPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// writeParams writes the file with the workload's parameters. It omits the parameters in d.unused.
func (d *Driver) writeParams(path string) error {
	values, err := loadParams(d.config, d.session.Config.Attempt.Trial, d.session.Part)
	if err != nil {
		return err
	}
	for _, name := range d.unused {
		delete(values, name)
	}
	data, err := osbtool.EncodeParams(values)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		return fmt.Errorf("cannot write the file with the parameters of spec.workload.osb.params: %w", err)
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

// usesAllTopologyParams reports whether the templates of a workload and of its common operations use all topologyParams. If a
// template assigns a parameter, the parameter counts as unused, because the program may refuse it.
func usesAllTopologyParams(folder string) bool {
	used, assigned := map[string]bool{}, map[string]bool{}
	for _, root := range []string{folder, filepath.Join(filepath.Dir(folder), osbconfig.CommonOperations)} {
		_ = filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || filepath.Ext(path) != ".json" {
				return nil // a file that cannot be read counts as a file that uses no parameter
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

// collectVariables collects the variables in the tags of a template, and the variables that a set tag assigns. A name in
// quotes is not a variable.
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
