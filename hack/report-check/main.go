// Command report-check opens a report.html in headless Chromium in several views: on a wide screen, on a phone and on
// paper, each light and dark. It fails on any request except for the file itself, on errors in the console, on a page
// that scrolls sideways, on a picture without a text alternative, and on text that is hard to read. It saves a
// screenshot of each view.
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

// viewTimeout is the time limit of one view. The limit of the whole check is proportional to it.
const viewTimeout = time.Minute

// check opens the report in every view and returns the findings.
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
		// The browser reports the page's requests to other hosts, but cannot send them.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // as root, Chromium does not run with its sandbox
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(len(views)+1)*viewTimeout)
	defer cancel()
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	defer stop()
	ctx, end := chromedp.NewContext(ctx)
	defer end()
	if err := chromedp.Do(ctx); err != nil { // starts the browser; it ends with this context
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

// within limits the time of a view. If the limit is exceeded, the error contains the limit.
func within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, viewTimeout, fmt.Errorf("it took longer than %s", viewTimeout))
	defer cancel()
	err := do(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	return err
}
