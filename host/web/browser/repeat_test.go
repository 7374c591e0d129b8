package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// Where suggestions run several times, the page says that values are means, and of which runs; the star and the bold
// lines are those of all runs of the best suggestion.
func TestMeansOfRuns(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: means
objective: {metric: a, mode: max}
trainable: {command: [sh, -c, 'echo "{\"a\": $(($1 * 10)), \"b\": 1}"', x, "{n}", "{m}"]}
space: {n: {grid: [1, 2]}, m: {choice: [7]}}
concurrency: 1
repeat: 2
trials: 1
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.shows("#experiments", "means")
	p.run("watch lines", chromedp.Evaluate(watchTexts, nil))
	p.view("#/x/means")
	p.means()
	p.clean()
	q := p.another()
	q.report(dir)
	q.run("watch lines", chromedp.Evaluate(watchTexts, nil))
	q.view("#/x/means")
	q.means()
	q.clean()
}

// means looks at the views.
func (p *page) means() {
	const mean = "the mean of suggestion 1, trials 2, 3"
	p.t.Helper()
	p.shows(".headline", mean)
	p.shows("#best", mean)
	p.shows("#best", "Each suggestion runs 2 times. Its value is the mean of the last values of its runs")
	p.shows("#history h2", "Best mean of a so far (max)")
	p.shows("#history", "the best is "+mean)
	p.shows("#history", "Each dot is the mean of the runs of a suggestion")
	p.shows("#curves", "the bold lines are the runs of the best suggestion")
	p.view("#/x/means/trials")
	p.await(`[...document.querySelectorAll(".rows .tr")].map((r) => r.children[1].textContent).join() === "0,0,1,1"`)
	p.await(`[...document.querySelectorAll(".rows .star")].length === 2`)
	p.shows("main .starred", mean)
	p.view("#/x/means/parameters")
	p.shows("#importance", "2 suggestions have a finite value")
	p.shows("main > .quiet .starred", mean)
	p.shows("#contour", "Each dot is one run")
	for view, text := range map[string]string{"parallel": "Each line is one run",
		"pareto":   "Each dot is the mean of the runs of a suggestion",
		"trials/3": "of the best suggestion", "trials/0": mean} {
		p.view("#/x/means/" + view)
		p.shows("main", text)
	}
}
