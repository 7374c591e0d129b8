package browser

import (
	"testing"
)

// While nothing is reported there are no empty plots, and no lists without anything to choose from.
func TestNothingYet(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: still
objective: {metric: a, mode: max}
trainable: {command: [sleep, "600"]}
space: {x: {uniform: [0, 1]}, lr: {loguniform: [1e-5, 1]}}
trials: 1
`)
	run := start(t, dir, "run", "x.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/still/overview")
	p.shows("#curves", "No trial has reported a result yet")
	p.shows(".headline", "no result yet")
	p.await("!document.querySelector('#curves select, #curves .choice')")
	p.view("#/x/still/parameters")
	p.shows("#contour .undrawn", "No trial with both parameters has a finite value of a: there is nothing to draw")
	p.await("document.querySelectorAll('.slices .undrawn').length === 2 && !document.querySelector('main canvas')")
	p.await("![...document.querySelectorAll('select')].some((s) => s.options.length === 0)")
	p.clean()
}

// The sign of failed trials is explained where it is drawn, and what has ended has no result "yet". What counts in a
// reason of the median is seen in the list.
func TestFailedWithoutAValue(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	const trains = `trainable:
  command: [sh, -c, 'test {n} = 9 && exit 1; for i in 1 2 3 4 5 6 7 8; do echo "{\"a\": {n}}"; done']
objective: {metric: a, mode: max}
scheduler: median
concurrency: 1
trials: 1
`
	write(t, dir, "some.yaml", "version: 1\n"+trains+
		"space: {n: {grid: [9, 8, 7, 6, 5, 4, 3, 2]}, x: {uniform: [0, 1]}}\n")
	write(t, dir, "none.yaml", "version: 1\n"+trains+"space: {n: {grid: [9]}}\n")
	for _, name := range []string{"some", "none"} {
		_ = command(t, dir, "run", name+".yaml").Run() // a trial fails
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/some/parameters")
	p.await("document.querySelector('#contour canvas')?.dataset.drawn > 0")
	p.shows("#slices + p", "the best is")
	p.await("![...document.querySelectorAll('main p')].some((e) => e.textContent.includes('a trial that has failed'))")
	p.view("#/x/some/trials")
	p.await("[...document.querySelectorAll('.rows .why .short')]" +
		".some((s) => s.textContent.startsWith('worse than the median'))")
	p.view("#/x/none/overview")
	p.shows(".headline", "finished without a result")
	p.await("!/result yet|objective yet/.test(document.querySelector('.headline').textContent + " +
		"[...document.querySelectorAll('section')].find((s) => s.ariaLabel === 'Best').textContent)")
	p.clean()
}
