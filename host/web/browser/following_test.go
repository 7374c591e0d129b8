package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// another opens one more page of the same browser.
func (p *page) another() *page {
	p.t.Helper()
	return opened(p.t, p.ctx, p.group)
}

// A browser has six connections to a server, for all of its pages: more pages than that follow a running experiment.
func TestEightPages(t *testing.T) {
	p := window(t)
	dir := quickstart(t)
	run := start(t, dir, "run", "experiment.yaml", "--set", "trials=100000", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/")
	var pages []*page
	for i := range 8 {
		q := p.another()
		q.open(strings.Split(run.url(), "?")[0] + "#/x/quickstart/" + []string{"", "trials/0"}[i%2])
		pages = append(pages, q)
	}
	for _, q := range pages {
		q.await("!document.hidden")
		q.view("#/x/quickstart")
		q.shows("#state", "running")
		q.await(fmt.Sprintf(progress+" > %d", ended(q)))
	}
	pages[7].press(".steering", "Pause")
	pages[7].await(pauses)
	for _, q := range pages {
		q.shows("#state", "paused")
		q.await("!document.querySelector('.lost')")
	}
	pages[7].await("!document.querySelector('.said')") // what was said of the pause was true until it came about
	pages[0].press(".steering", "Continue")
	for _, q := range pages {
		q.shows("#state", "running")
		q.clean()
	}
}

// pauses agrees to lose progress, if a page asks that.
const pauses = `document.querySelector('#state')?.textContent.includes('paused') ||
	[...document.querySelectorAll('dialog button')].some(b => b.textContent === 'Pause anyway' && (b.click(), true))`

// progress is how many trials a page says have ended; it writes 12,345/100,000.
const progress = "Number(document.querySelector('#progress').textContent.split('/')[0].replaceAll(',', ''))"

// ended is how many trials a page says have ended.
func ended(q *page) (n int) {
	q.t.Helper()
	q.run("progress", chromedp.Evaluate(progress, &n))
	return n
}

// buttons are those that do something now.
const buttons = "[...document.querySelectorAll('.steer button:not([aria-disabled])')].map(b => b.textContent).join()"

// A page offers what can be done: an experiment that has ended continues once it has more trials.
func TestMoreTrials(t *testing.T) {
	p := window(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart")
	p.shows("#state", "finished")
	p.await(buttons + " === 'Settings…'")
	p.view("#/x/quickstart/trials/11")
	p.shows("nav[aria-label=neighbours]", "← 10")
	p.await("document.querySelector('nav[aria-label=neighbours]')?.textContent.includes('12') === false")
	p.view("#/x/quickstart")
	p.press(".steering", "Settings")
	p.fill("dialog input[name=trials]", "14")
	p.press("dialog", "Change")
	p.shows(".steering .said", "1 setting changed")
	p.view("#/x/quickstart/trials")
	p.await("!document.querySelector('.said')")
	p.press(".steering", "Resume")
	p.view("#/x/quickstart")
	p.shows("#progress", "14/14")
	p.shows("#state", "finished")
	p.await(buttons + " === 'Settings…'")
	p.clean()
}

// Who may only read is offered nothing else.
func TestReadingToken(t *testing.T) {
	p := window(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	server.url()
	_, said, _ := strings.Cut(server.screen.String(), "for reading only: ")
	p.open(printed.FindString(said) + "#/x/quickstart")
	p.shows("#read-only", "Read only")
	p.shows("#state", "finished")
	p.await("!document.querySelector('.steer')")
	p.clean()
}

// Of several objectives there is no best trial, but trials that no other beats.
func TestSeveralObjectives(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "trial.sh", "echo '{\"a\": '$1', \"z\": '$1'}'\n")
	write(t, dir, "x.yaml", `version: 1
name: several
objectives:
  - {metric: z, mode: max}
  - {metric: a, mode: min}
trainable: {command: [sh, trial.sh, "{n}"]}
space:
  n: {grid: [1, 2, 3]}
trials: 1
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.shows("#experiments", "3 trials that no other beats")
	p.view("#/compare?of=several,several")
	p.shows("#sides", "3 trials that no other beats")
	p.view("#/x/several")
	p.shows("#front a[href$=pareto]", "3 trials that no other beats")
	p.shows("#best", "3 trials that no other beats")
	p.shows("#best table", "n=2")
	p.view("#/x/several/trials/0")
	p.await("document.querySelector('#results select')?.value === 'z'") // the objective, not the first of all
	p.clean()
}

// The lineage shows how the best trial of a population came about.
func TestLineage(t *testing.T) {
	p := window(t)
	dir := population(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/pbt/lineage")
	p.await("document.querySelector('#lineage canvas')?.dataset.drawn > 0")
	want, at := 0, -1
	list := answers[stretch](t, dir, "lineage", "results/pbt")
	best := answers[stretch](t, dir, "best", "results/pbt")[0].Trial
	for i, s := range list {
		if s.Value != nil && s.Trial == best {
			at = i
		}
	}
	for next := &at; next != nil; next = list[*next].Parent {
		want++
	}
	if want > 1 { // else the parameters never changed, and there is no schedule
		p.await(fmt.Sprintf("document.querySelectorAll('#schedule tbody tr').length === %d", want))
	}
	p.await(fmt.Sprintf(
		"document.querySelector('#lineage canvas').ariaLabel.includes(', %d of them on the way')", want))
	// no iteration is in two rows of the schedule, though a trial that was taken over may have trained on
	p.await(`(() => {
		const rows = [...document.querySelectorAll('#schedule tbody tr')]
			.map(r => r.cells[0].textContent.split('–').map(Number));
		return rows.every(([from, to], i) => from <= to && (i === 0 || rows[i - 1][1] <= from));
	})()`)
	p.clean()
}

type stretch struct {
	Trial  string   `json:"trial"`
	Parent *int     `json:"parent"`
	Value  *float64 `json:"value"`
}
