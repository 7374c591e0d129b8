package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// ahead has the status know of a best trial that no other answer knows of yet.
const ahead = `{
	const { fetch } = window;
	window.fetch = async (path, init) => {
		if (!/\/experiments\/[^/]+$/.test(path)) return fetch(path, init);
		const answer = await fetch(path, { ...init, headers: { ...init.headers, "If-None-Match": "another" } });
		const status = await answer.json();
		const number = status.best.number === 0 ? 1 : 0;
		return new Response(JSON.stringify({ ...status, best: { ...status.best, number, value: 12345 } }));
	};
}`

// A plot stars the best trial of the values that it shows: those may be older than the status, which has another best
// one by then.
func TestStarIsOfThePlot(t *testing.T) {
	p := window(t)
	dir := finished(t)
	best := answers[trial](t, dir, "best", "results/quickstart")[0].Number
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.shows("#experiments", "quickstart")
	p.run("a status that is ahead", chromedp.Evaluate(ahead, nil))
	p.view("#/x/quickstart/overview")
	p.shows("#best-value", "12345")
	p.shows("#history .starred", fmt.Sprintf("the best is trial %d", best))
	p.view("#/x/quickstart/parallel")
	p.shows("#highlighted .starred", fmt.Sprintf("the best is trial %d", best))
	for _, view := range []string{"parameters", "pareto"} {
		p.view("#/x/quickstart/" + view)
		p.shows("main .starred", fmt.Sprintf("the best is trial %d", best))
	}
	p.clean()
}
