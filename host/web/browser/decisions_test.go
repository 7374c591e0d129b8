package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The view of decisions has the plan of the searcher, says when its model changed, has at each rung the last reason of
// the scheduler, and who has suggested each trial.
func TestPlanOfTheSearcher(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: planned
seed: 1
objective: {metric: accuracy, mode: max}
trainable: {plugin: digits}
space: {lr: {loguniform: [1e-4, 1.0]}, layers: {int: [1, 3]}}
points: [{lr: 0.01, layers: 1}]
scheduler: auto
stop: {iteration: 9}
trials: 30
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	reasons := map[int]string{}
	for _, x := range answers[trial](t, dir, "trials", "results/planned") {
		reasons[x.Number] = x.Reason
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/planned/decisions")
	p.decided(reasons)
	p.addUp(dir)
	p.clean()
	q := p.another()
	q.report(dir)
	q.view("#/x/planned/decisions")
	q.decided(reasons)
	q.clean()
}

// decided looks at the view of decisions.
func (p *page) decided(reasons map[int]string) {
	p.t.Helper()
	p.shows("#searcher td:last-child", "2 parameters (0 choices): gp until 10 trials have ended, then")
	p.await(`[...document.querySelectorAll("#searcher td")]
		.some(td => /trials are stopped early: gp, gp, tpe in turn$/.test(td.textContent))`)
	p.shows("#decisions", "early values at iteration 1")
	const rungs = `[...document.querySelectorAll("#rungs tbody tr")].map(r => r.cells[3].textContent)`
	var lines []string
	p.run("rungs", chromedp.Evaluate(rungs, &lines))
	for _, line := range lines {
		var number int
		_, why, _ := strings.Cut(line, ": ")
		if _, err := fmt.Sscanf(line, "trial %d:", &number); err != nil || reasons[number] != why {
			p.t.Errorf("a rung has %q; the reason of trial %d is %q", line, number, reasons[number])
		}
	}
	if len(lines) == 0 {
		p.t.Error("there are no rungs")
	}
	const by = `[...document.querySelectorAll("#decisions tbody tr")].find(r => r.cells[0].textContent === "%d")
		.cells[1].textContent`
	p.await(fmt.Sprintf(by, 0) + ` === "the experiment file"`)
	p.await(fmt.Sprintf(by, 1) + ` === "auto"`)
}

// addUp compares the rungs of the view with the trials that were stopped early: those that finished are none.
func (p *page) addUp(dir string) {
	p.t.Helper()
	early := answers[struct {
		Early int `json:"stopped_early"`
	}](p.t, dir, "status", "results/planned")[0].Early
	finished := answers[trial](p.t, dir, "trials", "results/planned", "--where", "iteration == 9")
	if early == 0 || len(finished) == 0 {
		p.t.Fatalf("%d trials were stopped early, and %d finished", early, len(finished))
	}
	p.await(fmt.Sprintf(`[...document.querySelectorAll("#rungs tbody tr")]
		.reduce((n, r) => n + parseInt(r.cells[1].textContent), 0) === %d`, early))
	p.await(`[...document.querySelectorAll("#rungs tbody tr")].every((r) => r.cells[0].textContent !== "9")`)
}

// A page asks before it interrupts with what would be lost since the last checkpoints, and says who has suggested a
// trial.
func TestInterruptWarns(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: unsaved
objective: {metric: a, mode: max}
trainable: {command: [sh, -c, 'echo "{\"a\": 1}"; echo "{\"a\": 2}"; exec sleep 600']}
space: {n: {int: [1, 100]}}
concurrency: 1
trials: 1
`)
	run := start(t, dir, "run", "x.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/unsaved")
	p.shows("#best-value", "2")
	p.press(".steering", "Add a trial")
	p.fill("dialog input[name='params/n']", "5")
	p.press("dialog", "Add")
	p.shows(".steering .said", "added trial 1")
	for number, by := range []string{"the searcher", "the user"} {
		p.view(fmt.Sprintf("#/x/unsaved/trials/%d", number))
		p.shows("#facts dd", by)
	}
	p.view("#/x/unsaved")
	p.press(".steering", "Interrupt")
	p.shows("#losses", "1 running trial has no checkpoint and would begin again (trial 0")
	p.shows("#losses", "2 iterations")
	p.press("dialog", "Interrupt anyway")
	if err := run.Wait(); err == nil {
		t.Error("the run was not interrupted")
	}
	p.clean()
}

// askedFor notes how old an answer may be that the page asks for, and answers about the space as they were once.
const askedFor = `{
	window.asked = [];
	const { fetch } = window;
	let old;
	window.fetch = async (path, init) => {
		asked.push([path, init?.headers?.["Cache-Control"]]);
		if (!path.endsWith("/space")) return fetch(path, init);
		const space = old ??= await (await fetch(path, init)).json();
		return new Response(JSON.stringify({ ...space, rungs: space.rungs.map((r) => ({ ...r, stopped: 1 })) }));
	};
	window.ages = (end) => asked.filter(([path]) => path.endsWith(end)).map(([, age]) => age);
}`

// What the page says of the scheduler comes from one answer, whatever others it has from before; and each view begins
// with what there is when it is opened.
func TestAnswersOfDifferentAge(t *testing.T) {
	p := window(t)
	server := start(t, picky(t), "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.shows("#experiments", "picky")
	p.run("old answers", chromedp.Evaluate(askedFor, nil))
	for range 2 {
		p.view("#/x/picky/decisions")
		p.await(`document.querySelector("#early")?.textContent === "8 trials before their own end."`)
		p.await(`ages("/decisions")[0] === "max-age=1"`)
		p.run("forget", chromedp.Evaluate(`void (asked.length = 0)`, nil))
		p.view("#/x/picky/file")
		p.shows("#file", "picky")
	}
	p.clean()
}

// Trials that were stopped early, and not by the scheduler, are counted apart.
func TestStoppedByOthers(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "trial.sh", `for i in 1 2 3 4; do echo "{\"a\": $1}"; done; exec sleep 1000`)
	write(t, dir, "x.yaml", `version: 1
name: others
objective: {metric: a, mode: max}
trainable: {command: [sh, trial.sh, "{n}"]}
space: {n: {grid: [9, 8, 7, 6, 5, 4, 3, 2, 1]}}
scheduler: {plugin: asha, max: 9}
stop: {a: 9}
concurrency: 1
trials: 1
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/others/decisions")
	p.shows("#early", "8 trials before their own end; 1 more was stopped by a rule of the experiment, by its end")
	p.clean()
}
