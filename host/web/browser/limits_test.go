package browser

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
)

// What is chosen on axes of any name is a filter of the list of trials.
func TestBrushedNames(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: brushed
objective: {metric: v, mode: max}
trainable: {command: [sh, -c, 'echo "{\"v\": 1, \"val/acc\": 0.5, \"w-x\": 2}"']}
space:
  "x,y": {grid: [0, 1]}
  "a.b": {grid: [0, 1]}
  deep: {in: {grid: [0, 1]}, "to,p": {grid: [0, 1]}}
  number: {grid: [7, 8]}
trials: 1
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/brushed")
	for _, x := range []struct {
		axis  string
		from  float64
		found int
	}{{"x,y", 0.5, 16}, {"a.b", 0.5, 16}, {"deep/in", 0.5, 16}, {"deep/to,p", 0.5, 16}, {"number", 7.5, 16},
		{"val/acc", 0.5, 32}, {"w-x", 2, 32}} {
		chosen := fmt.Sprintf(`{%q: {"from": %g, "to": 9}}`, x.axis, x.from)
		axes := url.Values{"axes": {url.PathEscape(x.axis)}, "chosen": {chosen}}
		p.view("#/x/brushed/parallel?" + axes.Encode())
		p.shows("#parallel h2", fmt.Sprintf("%d of 32 trials", x.found))
		p.run("the list", chromedp.Evaluate(`[...document.querySelectorAll("#parallel a")]
			.find((a) => a.textContent.includes("as a table")).click()`, nil))
		p.shows("#found", fmt.Sprintf("%d of 32 trials", x.found))
	}
	p.clean()
}

// What is typed into a limit stays while new results draw the page anew.
func TestLimitsWhileTrialsReport(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: busy
objective: {metric: v, mode: max}
trainable: {command: [sh, -c, 'i=0; while :; do i=$((i+1)); echo "{\"v\": $i}"; sleep 0.2; done']}
space: {x: {uniform: [0, 1]}}
trials: 1
`)
	run := start(t, dir, "run", "x.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/busy/parallel")
	const drawn = `Number(document.querySelector("#parallel canvas")?.dataset.drawn ?? 0)`
	p.await(drawn + " > 0")
	p.run("type", chromedp.Focus("[aria-label='v from']", chromedp.ByQuery), chromedp.KeyEvent("-0.25"))
	var before int
	p.run("drawn", chromedp.Evaluate(drawn, &before))
	p.await(fmt.Sprintf("%s > %d", drawn, before+3))
	p.await(`document.querySelector("[aria-label='v from']").value === "-0.25"`)
	p.run("leave", chromedp.KeyEvent("\r"))
	p.await(`decodeURIComponent(location.hash).includes('"v":{"from":-0.25')`)
	p.clean()
}
