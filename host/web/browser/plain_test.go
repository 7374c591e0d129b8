package browser

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/tunehost/tunehost/host/plot/figure"
)

// A page whose server is gone says when it last saw the experiment, counts no time and offers nothing.
func TestServerGone(t *testing.T) {
	p := window(t)
	dir := quickstart(t)
	run := start(t, dir, "run", "experiment.yaml", "--set", "trials=100000", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/quickstart")
	p.shows("#state", "running")
	p.await("document.querySelectorAll('.steer button:not([aria-disabled])').length > 3")
	run.kill()
	p.await(`/^◌ last seen running at \d\d:\d\d$/.test(document.querySelector('#state').textContent)`)
	p.shows("#left", "not known")
	p.await("!document.querySelector('#counts').textContent.includes('▶')")
	p.await("document.querySelectorAll('.steer button').length > 3")
	p.await("!document.querySelector('.steer button:not([aria-disabled])')")
	p.shows(".lost code", "tunehost serve /")
	elapsed := p.text("#elapsed")
	p.run("look later", chromedp.Evaluate("void (window.later = performance.now() + 2500)", nil))
	p.await("performance.now() > later")
	if now := p.text("#elapsed"); now != elapsed {
		t.Errorf("the clock went on from %s to %s", elapsed, now)
	}
	p.view("#/x/quickstart/trials/0")
	p.await("!document.querySelector('.steer button:not([aria-disabled])')")
}

// wide sets the width of the page.
func (p *page) wide(pixels int64) {
	p.t.Helper()
	p.run(fmt.Sprintf("%d pixels wide", pixels), emulation.SetDeviceMetricsOverride(pixels, 1000, 1, false))
}

// Short columns have one line, and long texts the room beside or below them.
func TestTablesOfTexts(t *testing.T) {
	p := window(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart/journal")
	const broken = `[...document.querySelectorAll(".told td:not(:last-child)")].filter(td => {
		const text = document.createRange();
		text.selectNodeContents(td);
		const lines = [...text.getClientRects()].map(r => Math.round(r.bottom));
		return Math.max(...lines) - Math.min(...lines) > 8;
	}).map(td => td.textContent)`
	for _, pixels := range []int64{1280, 390} {
		p.wide(pixels)
		for _, view := range []string{"journal", "decisions"} {
			p.view("#/x/quickstart/" + view)
			p.await(fmt.Sprintf("document.querySelector('#%s td')", view))
			var cells []string
			var width float64
			p.run("measure "+view, chromedp.Evaluate(broken, &cells), chromedp.Evaluate(
				fmt.Sprintf("document.querySelector('#%s td:last-child').clientWidth", view), &width))
			if len(cells) > 0 || width < 300 {
				t.Errorf("%s, %d pixels wide: cells of several lines: %q; texts have %v pixels", view, pixels,
					cells, width)
			}
		}
	}
	p.clean()
}

// What waits for the experiment to be resumed is shown, and can be changed back.
func TestSettingsBack(t *testing.T) {
	p := window(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart")
	p.shows("#more", "raise their number in Settings, then press Resume")
	for _, set := range [][2]string{{"14", "'Waiting for Resume: trials 12 → 14'"}, {"12", "undefined"}} {
		trials, pending := set[0], set[1]
		p.press(".steering", "Settings")
		p.fill("dialog input[name=trials]", trials)
		p.press("dialog", "Change")
		p.await(fmt.Sprintf("%s === '%sSettings…'", buttons, map[string]string{"14": "▶ Resume,"}[trials]))
		p.await(fmt.Sprintf("document.querySelector('#later')?.textContent === %s", map[string]string{
			"14": "'… pending trials: 12 → 14, when the experiment is resumed'", "12": "undefined"}[trials]))
		p.press(".steering", "Settings")
		p.await(fmt.Sprintf("document.querySelector('dialog input[name=trials]')?.value === %q", trials))
		p.await(fmt.Sprintf("document.querySelector('#pending')?.textContent === %s", pending))
		p.press("dialog", "Cancel")
		p.await("!document.querySelector('dialog')")
	}
	p.press(".steering", "Settings")
	p.fill("dialog input[name=trials]", "many")
	p.press("dialog", "Change")
	p.await("document.querySelectorAll('.failure').length === 1") // in the dialog alone
	p.clean()
}

// The page of a trial that has failed has its traceback once.
func TestFailedTrial(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "trial.sh", `echo 'Traceback (most recent call last):
  File "model.py", line 7, in fit
    raise ValueError("too large")
ValueError: too large' >&2
exit 1
`)
	write(t, dir, "x.yaml", `version: 1
name: fails
objective: {metric: a, mode: max}
trainable: {command: [sh, trial.sh, "{n}"]}
space:
  n: {grid: [1]}
trials: 1
`)
	run := command(t, dir, "run", "x.yaml")
	if _, failed := run.Run().(*exec.ExitError); !failed {
		t.Fatal("no trial has failed")
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/fails/trials/0")
	p.await("document.querySelector('#why')?.textContent.split('model.py').length === 2")
	p.await("document.querySelector('#why p').textContent.includes('ValueError: too large')")
	p.await("!document.querySelector('#why p').textContent.includes('model.py')")
	p.shows("main", "The trial has reported nothing.")
	p.await("document.querySelector('#output [aria-pressed=true]')?.textContent === 'stderr'")
	p.shows("#output pre", "model.py")
	p.clean()
}

// mixed runs trials of two objectives that end by themselves, by a rule, and with a failure.
func mixed(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "trial.sh", `[ $1 = 3 ] && exit 1
echo '{"a": '$1', "z": '$(($1 * 52000))'}'
[ $1 = 2 ] && exec sleep 600
true
`)
	write(t, dir, "x.yaml", `version: 1
name: mixed
objectives:
  - {metric: a, mode: max}
  - {metric: z, mode: min}
trainable: {command: [sh, trial.sh, "{n}"]}
stop: {a: 2}
space:
  n: {grid: [0, 1, 2, 3]}
  slope: {when: "n > 1", uniform: [0, 1]}
trials: 1
`)
	run := command(t, dir, "run", "x.yaml")
	if _, failed := run.Run().(*exec.ExitError); !failed {
		t.Fatal("no trial has failed")
	}
	return dir
}

// Pages say how many trials there will be, how they ended, and of what the best is.
func TestNumbersSayOfWhat(t *testing.T) {
	p := window(t)
	dir := mixed(t)
	one := finished(t)
	server := start(t, dir, "serve", "results", filepath.Join(one, "results"), "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.shows("#experiments", "4/4 trials")
	p.shows("#experiments", "✕ 1 failed")
	p.shows("#experiments", "12/12 trials")
	p.view("#/x/mixed")
	p.shows("#counts", "3 terminated (2 completed, 1 stopped early)")
	p.shows("#counts a[href$=decisions]", "1 stopped early")
	p.shows("#history h2", "Best a so far (max)")
	p.shows("#history", "There are several objectives; this is the first one.")
	p.shows("#curves", "● finished.")
	p.view("#/x/quickstart")
	p.shows("#best-of", "best accuracy (max)")
	p.shows("#curves", "the bold line is the best trial")
	p.view("#/x/mixed/parameters")
	p.await("document.querySelector('#contour p') && !document.querySelector('#contour').textContent.includes('ring')")
	p.clean()
}

// The list of trials has room for reasons, one notation in a column, and an arrow that says the order.
func TestListOfTrials(t *testing.T) {
	p := window(t)
	dir := mixed(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/mixed/trials?sort=a")
	p.shows(".grid [aria-sort=descending]", "a ▼")
	p.await("document.querySelector('.grid .th').children[2].textContent === 'why'")
	const cell = "[...document.querySelectorAll('.rows .td')].some(c => c.textContent === '%s')"
	p.await(fmt.Sprintf(cell, "104000") + " && " + fmt.Sprintf(cell, "52000"))
	p.view("#/x/mixed/trials?sort=z")
	p.shows(".grid [aria-sort=ascending]", "z ▲")
	p.clean()
}

// Ranks have the colours of `tunehost plot`, and compared experiments those of their lines.
func TestColours(t *testing.T) {
	p := window(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart/parallel")
	const scale = "document.querySelector('canvas[aria-label^=\"colours from\"]')"
	p.await(scale + "?.dataset.drawn > 0")
	for _, end := range []struct{ at, rank float64 }{{0, 0.999}, {1, 0}} {
		var got []int
		p.run("read the scale", chromedp.Evaluate(fmt.Sprintf("[..."+scale+`.getContext("2d").getImageData(
			Math.round((%s.width - 1) * %v), 5, 1, 1).data]`, scale, end.at), &got))
		if r, g, b := figure.Graded(end.rank).RGB(); !slices.Equal(got[:3], []int{r, g, b}) {
			t.Errorf("rank %v has the colour %v, in plots %v", end.rank, got[:3], []int{r, g, b})
		}
	}
	p.view("#/compare?of=quickstart,quickstart")
	p.await(`[...document.querySelectorAll("#compared svg line")]
		.map(l => l.getAttribute("stroke")).join() === "#0072b2,#e69f00"`)
	p.clean()
}

// The Pareto front has steps: what lies between two of its trials has not been reached.
func TestFrontInSteps(t *testing.T) {
	p := window(t)
	dir := mixed(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/mixed/pareto")
	p.await("document.querySelector('#pareto canvas')?.dataset.drawn > 0")
	var lines [][2]float64
	p.run("draw once more", chromedp.Evaluate(`new Promise(done => {
		const path = CanvasRenderingContext2D.prototype;
		const [lineTo, drawn, list] = [path.lineTo, document.querySelector("#pareto canvas").dataset.drawn, []];
		path.lineTo = function (x, y) {
			if (this.lineWidth === 2) list.push([x, y]);
			lineTo.call(this, x, y);
		};
		dispatchEvent(new Event("theme"));
		const look = () => document.querySelector("#pareto canvas").dataset.drawn > drawn ? done(list)
			: requestAnimationFrame(look);
		look();
	})`, &lines, awaited))
	if len(lines) != 5 {
		t.Fatalf("the front of three trials is drawn as %v", lines)
	}
	for i := range lines[1:] {
		if lines[i][0] != lines[i+1][0] && lines[i][1] != lines[i+1][1] {
			t.Errorf("the front is no step from %v to %v", lines[i], lines[i+1])
		}
	}
	p.clean()
}

// The form of a new trial has lists of choices, ranges and conditions; the basis of importance is named.
func TestParametersSayWhatTheyAre(t *testing.T) {
	p := window(t)
	dir := mixed(t)
	write(t, dir, "long.yaml", `version: 1
name: long
objective: {metric: a, mode: max}
trainable: {command: [sleep, "600"]}
space:
  kind: {choice: ["1", 1]}
  lr: {loguniform: [0.001, 1]}
  momentum: {uniform: [0, 1], when: "kind == 1"}
trials: 1
`)
	run := start(t, dir, "run", "long.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/long")
	p.press(".steering", "Add a trial")
	p.await("document.querySelector('dialog input[name=\"params/lr\"]')?.placeholder === '0.001 to 1, logarithmic'")
	p.shows("dialog", "only when kind == 1")
	p.run("choose", chromedp.Evaluate(`{
		const field = document.querySelector("dialog select[name='params/kind']");
		field.value = '"1"';
		field.dispatchEvent(new Event("change", {bubbles: true}));
	}`, nil))
	p.press("dialog", "Add")
	p.shows(".steering .said", "added trial 1")
	p.view("#/x/long/trials/1")
	p.await(`document.querySelector('#parameters td')?.title === '"1"'`)
	p.view("#/x/long/pareto")
	p.shows("main", "no second metric")
	run.kill()
	server := start(t, dir, "serve", "results/mixed", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/mixed/parameters")
	p.shows("#basis", "slope in 2 of 4 trials")
	p.shows("#basis", "The values of 1 trial that was stopped early are those at that time.")
	p.clean()
}
