package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// A view that cannot be shown says so in a line, and the other views, and the buttons, go on.
func TestViewThatCannotBeShown(t *testing.T) {
	p := window(t)
	server := start(t, plane(t), "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("break", chromedp.Evaluate(`{
		window.whole = window.fetch;
		window.fetch = async (...what) =>
			String(what[0]).endsWith("/plane/lineage") ? new Response("{}") : whole(...what);
	}`, nil))
	p.view("#/x/plane/lineage")
	p.shows("main .failure", "This part of the page cannot be shown, which is a fault of the page: TypeError")
	p.shows("main .steering", "Settings")
	p.view("#/x/plane/timeline")
	p.await("document.querySelector('main canvas')?.dataset.drawn > 0 && !document.querySelector('main .failure')")
	p.view("#/x/plane/lineage")
	p.shows("main .failure", "This part of the page cannot be shown")
	p.run("mend", chromedp.Evaluate("void (window.fetch = window.whole)", nil))
	p.press("main", "try again")
	p.shows("#lineage", "Trials by iteration")
	p.await("!document.querySelector('main .failure')")
	p.clean()
}

// An experiment of which nothing can be shown leads to all others.
func TestExperimentThatCannotBeShown(t *testing.T) {
	p := window(t)
	server := start(t, plane(t), "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("break", chromedp.Evaluate(`{
		const whole = window.fetch;
		window.fetch = async (...what) =>
			String(what[0]).endsWith("/experiments/plane") ? new Response("{}") : whole(...what);
	}`, nil))
	p.view("#/x/plane")
	p.shows("main .failure", "This part of the page cannot be shown")
	p.does("[...document.querySelectorAll('main a')].find((a) => a.textContent === 'all experiments').click()")
	p.shows("main h1", "Experiments")
	p.clean()
}
