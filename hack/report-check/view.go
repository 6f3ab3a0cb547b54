package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// view is one way to display the report.
type view struct {
	size          string
	width, height int64 // CSS pixels
	scale         float64
	phone         bool
	print         bool
	scheme        string // "light" or "dark"
}

func (v view) name() string { return v.size + "-" + v.scheme }

// views are all views: three sizes, each light and dark, and the narrowest common phone. Paper is A4 at 96 dots per
// inch.
var views = []view{
	{size: "wide", width: 1280, height: 900, scale: 1, scheme: "light"},
	{size: "wide", width: 1280, height: 900, scale: 1, scheme: "dark"},
	{size: "phone", width: 390, height: 844, scale: 2, phone: true, scheme: "light"},
	{size: "phone", width: 390, height: 844, scale: 2, phone: true, scheme: "dark"},
	{size: "narrow", width: 360, height: 740, scale: 2, phone: true, scheme: "light"},
	{size: "print", width: 794, height: 1123, scale: 1, print: true, scheme: "light"},
	{size: "print", width: 794, height: 1123, scale: 1, print: true, scheme: "dark"},
}

// result holds the findings of a view.
type result struct {
	name     string
	facts    facts
	problems []string
}

func (r result) summary() string {
	return fmt.Sprintf("%d problems; %d x %d px, %d pictures, contrast at least %.1f", len(r.problems), r.facts.Width, r.facts.Height, r.facts.Pictures, r.facts.Contrast)
}

// facts are the findings of inspect.js.
type facts struct {
	Width    int      `json:"width"`
	Height   int      `json:"height"`
	Pictures int      `json:"pictures"`
	Contrast float64  `json:"contrast"` // the lowest contrast of any text
	Problems []string `json:"problems"`
}

//go:embed inspect.js
var inspect string

// open opens the page in a new tab and inspects it.
func (v view) open(ctx context.Context, url, out string) (result, error) {
	ctx, closeTab := chromedp.NewContext(ctx)
	defer closeTab()
	r := result{name: v.name()}
	l := &listener{page: url}
	err := within(ctx, func(ctx context.Context) error {
		if err := chromedp.Listen(ctx, l.hear); err != nil {
			return err
		}
		err := chromedp.Do(ctx,
			call(network.Enable, network.EnableParams{}), call(log.Enable, cdp.Empty{}), call(runtime.Enable, cdp.Empty{}),
			call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: v.width, Height: v.height, DeviceScaleFactor: v.scale, Mobile: v.phone}),
			call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: v.media(), Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}}}),
			chromedp.Navigate(url))
		if err != nil {
			return err
		}
		if r.facts, err = chromedp.Run(ctx, chromedp.Evaluate[facts](fmt.Sprintf("(%s)(%d)", inspect, v.width))); err != nil {
			return err
		}
		return v.save(ctx, out)
	})
	r.problems = append(l.heard(), r.facts.Problems...)
	return r, err
}

// call returns a command of the DevTools protocol as a chromedp action.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

func (v view) media() string {
	if v.print {
		return "print"
	}
	return "screen"
}

// save writes a screenshot. For the view on paper it also writes a PDF.
func (v view) save(ctx context.Context, out string) error {
	const png = 100 // PNG: highest quality
	shot, err := chromedp.Run(ctx, chromedp.FullScreenshot(png))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, v.name()+".png"), shot, 0o644); err != nil || !v.print {
		return err
	}
	pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF(chromedp.PDFPrintBackground(), chromedp.PDFPreferCSSPageSize()))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, v.name()+".pdf"), pdf, 0o644)
}

// listener collects the events of a page.
type listener struct {
	page     string
	mu       sync.Mutex
	problems []string
}

func (l *listener) hear(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !l.own(url) {
			l.add("it requests %s", url)
		}
	case *network.EventWebSocketCreated:
		l.add("it opens the socket %s", e.URL)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			l.add("console %s: %s", e.Type, texts(e.Args))
		}
	case *runtime.EventExceptionThrown:
		l.add("exception: %s", exception(e.ExceptionDetails))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			l.add("console %s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	}
}

// own reports whether a request is for the report itself or for data in it.
func (l *listener) own(url string) bool {
	document, _, _ := strings.Cut(url, "#")
	return document == l.page || strings.HasPrefix(url, "data:") || strings.HasPrefix(url, "about:")
}

func (l *listener) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems = append(l.problems, fmt.Sprintf(format, args...))
}

func (l *listener) heard() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.problems...)
}

func texts(args []*runtime.RemoteObject) string {
	var out []string
	for _, a := range args {
		text := a.Description
		if text == "" {
			text = string(a.Value)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func exception(d *runtime.ExceptionDetails) string {
	text := d.Text
	if d.Exception != nil {
		text += " " + d.Exception.Description
	}
	return fmt.Sprintf("%s (%s:%d)", text, d.URL, d.LineNumber+1)
}
