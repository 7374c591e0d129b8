package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// Parameters in a group are like others in lists, plots and details.
func TestGroupsOfParameters(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: groups
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 1, any_params: true}}
searcher: random
seed: 1
space:
  quality: {uniform: [0, 1]}
  optimizer:
    name: {choice: [sgd, adam]}
    decay: {uniform: [0.25, 0.75]}
trials: 12
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url()) // of the only experiment
	p.await(`location.hash === "#/x/groups"`)
	p.view("#/")
	p.shows("#experiments", "groups")
	p.run("watch stars", chromedp.Evaluate(watchStars, nil))
	p.view("#/x/groups/trials?sort=optimizer/decay")
	p.await(`[...document.querySelectorAll("main [role=row]")].filter((r) =>
		/(sgd|adam).*0[.][2-7]/.test(r.textContent)).length === 12`)
	p.view("#/x/groups/parameters")
	p.await(`["optimizer/name", "optimizer/decay"].every((x) =>
		stars.some((s) => s.label.startsWith("score by " + x)))`)
	p.view("#/x/groups/overview")
	p.press("#best", "command line")
	p.await(`/--optimizer[.]decay=0[.]\d+/.test(document.querySelector("#best").textContent)`)
	p.view("#/x/groups/trials/0")
	p.shows("#parameters", "optimizer/name")
	p.await(`/optimizer.decay0[.]/.test(document.querySelector("#parameters tbody").textContent)`)
	p.clean()
}

// A trial whose parameter has the choice null is in the plots; one that does not have a parameter is not.
func TestChoiceNull(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: nulls
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 1, any_params: true}}
space:
  depth: {grid: [1, null]}
  width: {int: [1, 9], when: depth == 1}
trials: 3
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url())
	p.await(`location.hash === "#/x/nulls"`)
	p.view("#/x/nulls/parameters")
	p.await(`document.querySelector("[aria-label='score by depth, 6 trials']") &&
		document.querySelector("[aria-label='score by width, 3 trials']")`)
	p.clean()
}
