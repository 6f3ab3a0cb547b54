package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// show writes a report to a new folder and opens its HTML in a browser. It keeps the folder, because the browser reads the
// folder after this program has ended.
func (p *plugin) show(ctx context.Context, name string, files map[string]string) error {
	if files["report.html"] == "" {
		return errors.New("the report has no report.html, because an older version of Knee wrote the report; use --remake to make all files from the records")
	}
	dir, err := os.MkdirTemp("", "knee-"+strings.ReplaceAll(name, "/", "-")+"-")
	if err != nil {
		return err
	}
	if err := writeFiles(dir, files); err != nil {
		return err
	}
	page := filepath.Join(dir, "report.html")
	fmt.Fprintln(p.streams.Out, page)
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	if out, err := exec.CommandContext(ctx, opener, page).CombinedOutput(); err != nil {
		return fmt.Errorf("%s cannot open the report: %w %s", opener, err, strings.TrimSpace(string(out)))
	}
	return nil
}
