// Command report-check opens a report.html in headless Chromium as people will: on a wide screen, on a phone and on
// paper, light and dark. It fails on any request beyond the file itself, on errors in the console, where the page
// scrolls sideways, where a picture has no words, and where text is hard to read. It saves a screenshot of each view.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/chromedp/chromedp"
)

func main() {
	out := flag.String("out", "report-check", "folder for the screenshots")
	browser := flag.String("chromium", "chromium", "the browser's program")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: report-check [-out FOLDER] [-chromium PROGRAM] report.html")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	found, err := check(context.Background(), *browser, flag.Arg(0), *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "report-check:", err)
		os.Exit(2)
	}
	failed := false
	for _, v := range found {
		fmt.Printf("%-16s %s\n", v.name, v.summary())
		for _, p := range v.problems {
			fmt.Printf("  - %s\n", p)
			failed = true
		}
	}
	fmt.Println("screenshots in", *out)
	if failed {
		os.Exit(1)
	}
}

// viewTimeout bounds each view, and all of them with the browser's start in proportion.
const viewTimeout = time.Minute

// check opens the report in every view.
func check(ctx context.Context, browser, report, out string) ([]result, error) {
	path, err := filepath.Abs(report)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	program, err := exec.LookPath(browser)
	if err != nil {
		return nil, fmt.Errorf("%w: install Debian's package chromium", err)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program),
		// What the report asks for is told by the browser; nothing of it gets out.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox refuses root
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(len(views)+1)*viewTimeout)
	defer cancel()
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	defer stop()
	ctx, end := chromedp.NewContext(ctx)
	defer end()
	if err := chromedp.Do(ctx); err != nil { // the browser lives as long as this context
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	page := (&url.URL{Scheme: "file", Path: path}).String()
	var results []result
	for _, v := range views {
		r, err := v.open(ctx, page, out)
		if err != nil {
			return results, fmt.Errorf("%s: %w", v.name(), err)
		}
		results = append(results, r)
	}
	return results, nil
}

// within bounds what a view does, and says when time was what ended it.
func within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, viewTimeout, fmt.Errorf("it took longer than %s", viewTimeout))
	defer cancel()
	err := do(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	return err
}
