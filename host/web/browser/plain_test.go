package browser

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A page whose server is gone says when it last saw the experiment, counts no time and offers nothing.
func TestServerGone(t *testing.T) {
	p := browser(t)
	dir := quickstart(t)
	run := start(t, dir, "run", "experiment.yaml", "--set", "trials=100000", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/quickstart")
	p.shows("#state", "running")
	p.await("document.querySelectorAll('.steer button:not(:disabled)').length > 3")
	run.kill()
	p.await(`/^◌ last seen running at \d\d:\d\d$/.test(document.querySelector('#state').textContent)`)
	p.shows("#left", "not known")
	p.await("!document.querySelector('#counts').textContent.includes('▶')")
	p.await("document.querySelectorAll('.steer button').length > 3")
	p.await("!document.querySelector('.steer button:not(:disabled)')")
	p.shows(".lost code", "tunehost serve /")
	elapsed := p.text("#elapsed")
	p.run("look later", chromedp.Evaluate("void (window.later = performance.now() + 2500)", nil))
	p.await("performance.now() > later")
	if now := p.text("#elapsed"); now != elapsed {
		t.Errorf("the clock went on from %s to %s", elapsed, now)
	}
	p.view("#/x/quickstart/trials/0")
	p.await("!document.querySelector('.steer button:not(:disabled)')")
}

// wide sets the width of the page.
func (p *page) wide(pixels int64) {
	p.t.Helper()
	p.run(fmt.Sprintf("%d pixels wide", pixels), emulation.SetDeviceMetricsOverride(pixels, 1000, 1, false))
}

// Short columns have one line, and long texts the room beside or below them.
func TestTablesOfTexts(t *testing.T) {
	p := browser(t)
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
	p := browser(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart")
	p.shows("#more", "raise their number in Settings, then press Resume")
	for _, trials := range []string{"14", "12"} {
		p.press(".steering", "Settings")
		p.fill("dialog input[name=trials]", trials)
		p.press("dialog", "Change")
		p.await(fmt.Sprintf("%s === '%sSettings…'", buttons, map[string]string{"14": "▶ Resume,"}[trials]))
		p.press(".steering", "Settings")
		p.await(fmt.Sprintf("document.querySelector('dialog input[name=trials]')?.value === %q", trials))
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
	p := browser(t)
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
