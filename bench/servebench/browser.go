package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// opens is how often each view is opened; the figures are medians.
const opens = 5

// views are what is opened, by address, with what is true of the page once it is complete.
var views = []struct{ path, complete string }{
	{"", "document.querySelector('#experiments canvas')?.dataset.drawn > 0"},
	{"x/large/trials", "document.querySelectorAll('.rows .tr a').length >= 10"},
	{"x/large/trials?sort=accuracy", "document.querySelectorAll('.rows .tr a').length >= 10"},
	{"x/large/trials?where=accuracy+%3E+0.9&sort=-lr", "document.querySelectorAll('.rows .tr a').length >= 10"},
	{"x/large/overview", "['history', 'curves'].every(n => document.querySelector(`#${n} canvas`)?.dataset.drawn > 0)"},
	{"x/large/parallel", "document.querySelector('#parallel canvas')?.dataset.drawn > 0"},
	{"x/large/parameters", "document.querySelector('#importance td') && " +
		"[...document.querySelectorAll('canvas')].length >= 5 && " +
		"[...document.querySelectorAll('canvas')].every(c => c.dataset.drawn > 0)"},
	{"x/large/pareto", "document.querySelector('#pareto canvas')?.dataset.drawn > 0"},
	{"x/large/timeline", "document.querySelector('#timeline canvas')?.dataset.drawn > 0"},
	{"x/large/lineage", "document.querySelector('#lineage canvas')?.dataset.drawn > 0"},
	{"x/large/decisions", "document.querySelectorAll('#decisions td').length > 0"},
	{"x/large/journal", "document.querySelectorAll('#journal td').length > 0"},
	{"x/large/trials/500", "document.querySelector('#results canvas')?.dataset.drawn > 0"},
}

// seen measures what a reader of the large experiment waits for, in a real Chromium.
func seen(out io.Writer, binary, home, folder string) error {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		return errors.New("there is no chromium on the PATH: host/web/browser/chromium.sh installs it; " +
			"-browser=false leaves these figures out")
	}
	s, err := start(binary, home, folder)
	if err != nil {
		return err
	}
	defer s.end()
	ctx, end := window(chromium)
	defer end()
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "page\tfirst paint\tcomplete\tslowest\tmemory of the server")
	if err := cold(ctx, w, s); err != nil {
		return err
	}
	for _, v := range views {
		if err := opened(ctx, w, s, v.path, v.complete); err != nil {
			return fmt.Errorf("%s: %w", v.path, err)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return scrolled(ctx, out, s)
}

// window opens a browser.
func window(chromium string) (context.Context, func()) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox,
		chromedp.WindowSize(1300, 1000))
	alone, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(alone)
	limited, cancel := context.WithTimeout(ctx, 10*time.Minute)
	return limited, func() { cancel(); end(); stop() }
}

// noted is a script that keeps when the page was complete, beside when it was first painted.
const noted = `{
	const look = () => {
		if (%s) window.complete ??= performance.now();
		else requestAnimationFrame(look);
	};
	addEventListener("DOMContentLoaded", look);
}`

// moments are milliseconds since the navigation to a page began.
type moments struct{ Paint, Complete float64 }

const asked = `new Promise(done => {
	const look = () => window.complete
		? done({Complete: window.complete,
			Paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0})
		: setTimeout(look, 20);
	look();
})`

// open opens a page, with a token the first time.
func open(ctx context.Context, s *server, path, complete, query string) (m moments, err error) {
	var script page.ScriptIdentifier
	err = chromedp.Run(ctx, chromedp.Navigate("about:blank"),
		chromedp.ActionFunc(func(ctx context.Context) (err error) {
			script, err = page.AddScriptToEvaluateOnNewDocument(fmt.Sprintf(noted, complete)).Do(ctx)
			return err
		}),
		chromedp.Navigate(s.base.String()+"/"+query+"#/"+path), chromedp.Evaluate(asked, &m, awaited),
		chromedp.ActionFunc(func(ctx context.Context) error {
			return page.RemoveScriptToEvaluateOnNewDocument(script).Do(ctx)
		}))
	return m, err
}

func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// cold opens the list at once when the server has started, and waits until the record is read.
func cold(ctx context.Context, w io.Writer, s *server) error {
	began := time.Now()
	m, err := open(ctx, s, "", "document.querySelector('#experiments tbody .spark')", "?token="+s.token)
	fmt.Fprintf(w, "the list, with a new browser and server\t%.0f ms\t%v\t\t%s\n", m.Paint,
		round(time.Since(began)).Round(10*time.Millisecond), s.memory())
	return err
}

func opened(ctx context.Context, w io.Writer, s *server, path, complete string) error {
	var paints, completes []float64
	for range opens {
		m, err := open(ctx, s, path, complete, "")
		if err != nil {
			return err
		}
		paints, completes = append(paints, m.Paint), append(completes, m.Complete)
	}
	fmt.Fprintf(w, "/%s\t%.0f ms\t%.0f ms\t%.0f ms\t%s\n", path, middle(paints), middle(completes),
		slices.Max(completes), s.memory())
	return nil
}

// scrolling scrolls the list by so many pixels a frame for some seconds, and returns the times of the frames, and how
// many of them had a row in view that was not read yet.
const scrolling = `new Promise(done => {
	const box = document.querySelector(".grid");
	const frames = [];
	let blank = 0;
	const frame = (now) => {
		frames.push(now);
		const [top, bottom] = [box.getBoundingClientRect().top, box.getBoundingClientRect().bottom];
		if ([...box.querySelectorAll(".rows .tr")].some(r => !r.querySelector("a") &&
			r.getBoundingClientRect().bottom > top && r.getBoundingClientRect().top < bottom)) blank++;
		if (now - frames[0] > %d) return done({Frames: frames, Blank: blank});
		box.scrollTop += %d;
		requestAnimationFrame(frame);
	};
	requestAnimationFrame(frame);
})`

// scrolled scrolls the list of trials at several speeds.
func scrolled(ctx context.Context, out io.Writer, s *server) error {
	if _, err := open(ctx, s, views[1].path, views[1].complete, ""); err != nil {
		return err
	}
	for _, pixels := range []int{30, 300, 3000, 30000} {
		var x struct {
			Frames []float64
			Blank  int
		}
		back := chromedp.Evaluate(`document.querySelector(".grid").scrollTop = 0`, nil)
		err := chromedp.Run(ctx, back, chromedp.Evaluate(fmt.Sprintf(scrolling, 5000, pixels), &x, awaited))
		if err != nil {
			return err
		}
		longest := 0.0
		for i := range x.Frames[1:] {
			longest = max(longest, x.Frames[i+1]-x.Frames[i])
		}
		n := len(x.Frames) - 1
		fmt.Fprintf(out, "scrolling by %5d pixels a frame: %.0f frames/s, the longest took %.0f ms, "+
			"%.0f %% have rows that are still read; %s\n", pixels, float64(n)*1000/(x.Frames[n]-x.Frames[0]), longest,
			float64(x.Blank)*100/float64(n), strings.Split(s.memory(), ",")[0])
	}
	return nil
}
