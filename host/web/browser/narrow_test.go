package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// No page scrolls sideways in a window as narrow as a phone: what is wider scrolls within its own box.
func TestNarrow(t *testing.T) {
	p := window(t)
	dir := finished(t)
	longNames(t, dir)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.run("narrow", chromedp.EmulateViewport(390, 844))
	p.open(server.url() + "#/")
	p.shows("#experiments", "quickstart")
	p.fits("experiments")
	for view, complete := range views {
		p.view("#/x/quickstart/" + view)
		p.await(complete)
		p.fits(view)
		p.tabs(view)
		p.view("#/x/" + long + "/" + view)
		p.await("document.querySelector('main h1') && !document.querySelector('main .waiting')")
		p.fits(view + " with long names")
	}
	p.view("#/x/quickstart/parameters")
	p.await("document.querySelector('#contour .scale span')")
	p.await(`[...document.querySelectorAll(".scale > span")].every((s) => s.getClientRects().length === 1 &&
		s.clientHeight < 30)`) // a number is in one line
	p.view("#/compare?of=quickstart,quickstart")
	p.await("document.querySelector('#compared canvas')?.dataset.drawn > 0")
	p.fits("compare")
	p.view("#/x/quickstart")
	p.press(".steering", "Settings")
	p.await("document.querySelector('dialog input')")
	p.fits("settings")
	p.clean()
}

// tabs fails if the views take more than one row, or the one that is shown is out of sight.
func (p *page) tabs(view string) {
	p.t.Helper()
	const box = "document.querySelector('.tabs [aria-current]').getBoundingClientRect()"
	var height, left, right int
	p.run("tabs of "+view, chromedp.Evaluate("document.querySelector('.tabs').clientHeight", &height),
		chromedp.Evaluate("Math.round("+box+".left)", &left), chromedp.Evaluate("Math.round("+box+".right)", &right))
	if height > 60 || left < 0 || right > 390 {
		p.t.Errorf("%s: the views are %d pixels high, the current one is at %d to %d", view, height, left, right)
	}
}

// long is a name without a place to break a line.
var long = strings.Repeat("long_name_", 6)

// longNames runs an experiment whose name, parameters, values and metrics are long.
func longNames(t *testing.T, dir string) {
	t.Helper()
	write(t, dir, "long.yaml", fmt.Sprintf(`version: 1
name: %[1]s
objective: {metric: %[1]s_metric, mode: max}
trainable: {command: [sh, -c, 'echo "{\"%[1]s_metric\": 0.{n}}"']}
space:
  n: {int: [1, 9]}
  %[1]s: {choice: [%[1]s_a, %[1]s_b]}
trials: 3
`, long))
	if out, err := command(t, dir, "run", "long.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// beyond lists the elements that reach over the right edge of the window, and that no box scrolls or cuts.
const beyond = `(() => {
	const boxed = (e) => e && e !== document.body &&
		(getComputedStyle(e).overflowX !== "visible" || boxed(e.parentElement));
	return [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 &&
		!boxed(e.parentElement)).slice(0, 5).map((e) => e.outerHTML.slice(0, 120));
})()`

// fits fails if the page can be scrolled sideways, or shows less than all of it.
func (p *page) fits(view string) {
	p.t.Helper()
	var width, window int
	var over []string
	p.run("width of "+view, chromedp.Evaluate("document.scrollingElement.scrollWidth", &width),
		chromedp.Evaluate("innerWidth", &window), chromedp.Evaluate(beyond, &over))
	if window != 390 || width > window || len(over) > 0 {
		p.t.Errorf("%s is %d pixels wide in a window of %d: %q", view, width, window, over)
	}
}
