package browser

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// What is chosen on axes of any name is a filter of the list of trials.
func TestBrushedNames(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: brushed
objective: {metric: v, mode: max}
trainable: {command: [sh, -c, 'echo "{\"v\": 1, \"val/acc\": $1, \"w-x\": $1}"', sh, "{number}"]}
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
	for axis, from := range map[string]float64{"x,y": 0.5, "a.b": 0.5, "deep/in": 0.5, "deep/to,p": 0.5, "number": 7.5,
		"val/acc": 7.5, "w-x": 7.5} {
		chosen := fmt.Sprintf(`{%q: {"from": %g, "to": 9}}`, axis, from)
		axes := url.Values{"axes": {url.PathEscape(axis)}, "chosen": {chosen}}
		p.view("#/x/brushed/parallel?" + axes.Encode())
		p.shows("#parallel h2", "16 of 32 trials")
		p.run("the list", chromedp.Evaluate(`[...document.querySelectorAll("#parallel a")]
			.find((a) => a.textContent.includes("as a table")).click()`, nil))
		p.shows("#found", "16 of 32 trials")
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

// A limit keeps all digits that are typed, and the list of trials has the same trials as the plot.
func TestLimitsAreExact(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: exact
objective: {metric: v, mode: max}
trainable: {command: [sh, -c, 'echo "{\"v\": 1}"']}
space: {seed: {int: [1, 2000000000]}}
points: [{seed: 1234567891}, {seed: 1234567892}, {seed: 1234567893}]
trials: 3
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/exact/parallel")
	p.run("type", chromedp.Focus("[aria-label='seed from']", chromedp.ByQuery), chromedp.KeyEvent("1234567892\r"))
	p.shows("#parallel h2", "2 of 3 trials")
	p.await(`document.querySelector("[aria-label='seed from']").value === "1234567892"`)
	p.does(`[...document.querySelectorAll("#parallel a")].find((a) => a.textContent.includes("as a table")).click()`)
	p.shows("#found", "2 of 3 trials")
	p.clean()
}

// Who filters the list of trials by Enter is still in the field, and Back brings its text back.
func TestFilterKeepsTheFocus(t *testing.T) {
	p := window(t)
	dir := plane(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/plane/trials")
	p.shows("#found", "16 trials")
	p.run("focus as a window in front", emulation.SetFocusEmulationEnabled(true))
	p.run("type", chromedp.Focus("[name=where]", chromedp.ByQuery), chromedp.KeyEvent("v > 30\r"))
	p.shows("#found", "3 of 16 trials")
	p.await(`document.activeElement.name === "where" && document.activeElement.value === "v > 30"`)
	p.run("back", chromedp.NavigateBack())
	p.await(`document.querySelector("[name=where]")?.value === ""`)
	p.clean()
}

// The only logarithmic axis becomes a linear one, and back.
func TestLogarithmicAxis(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: axes
objective: {metric: v, mode: max}
trainable: {command: [sh, -c, 'echo "{\"v\": 1}"']}
space: {lr: {loguniform: [0.001, 1]}, x: {uniform: [0, 1]}}
trials: 3
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/axes/parallel")
	const lr = `document.querySelector("[aria-label='log axis of lr']")`
	p.await(lr + `?.ariaPressed === "true"`)
	for _, pressed := range []bool{false, true} {
		p.does(lr + ".click()")
		p.await(fmt.Sprintf(`%s.ariaPressed === "%t"`, lr, pressed))
		p.run("reload", chromedp.Reload())
		p.await(fmt.Sprintf(`%s?.ariaPressed === "%t"`, lr, pressed))
	}
	p.clean()
}
