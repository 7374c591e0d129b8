package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// Values near the smallest number have plots with numbers at their axes, beside others that have them as usual.
func TestValuesNearTheSmallest(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	giving(t, dir, "zero", "0", "5e-324", "1e-323", "2e-323", "1.2e-322", "5e-323")
	giving(t, dir, "above", "5e-324", "1e-323", "1.5e-323")
	giving(t, dir, "apart", "5e-324", "1e-300", "1")
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch marks", chromedp.Evaluate(watchMarks, nil))
	for name, all := range map[string]int{"zero": 6, "above": 3, "apart": 3} {
		p.view("#/x/" + name + "/overview")
		for _, label := range []string{"Best a so far", "a of "} {
			p.await(fmt.Sprintf("count(%q, /arc/) === %d", label, all))
			p.await(fmt.Sprintf(`count(%q, /e-\d\d\d$/) > 0`, label))
		}
		p.view("#/x/" + name + "/parameters")
		p.await(fmt.Sprintf(`count("a by n", /rect/) === %d`, all))
		p.view("#/x/" + name + "/parallel")
		if name != "apart" { // its axis is linear, from 0 to 1
			p.await(`count("Parallel", /e-\d\d\d$/) > 0`)
		}
		p.await(`count("Parallel", /^[012]$/) > 1`)
		p.view("#/x/" + name + "/trials/0")
		p.await(`count("a by iteration", /arc/) === 1`)
	}
	p.view("#/x/zero/parallel")
	p.run("limit", chromedp.Focus("[aria-label='a from']", chromedp.ByQuery), chromedp.KeyEvent("1e-323\r"))
	p.shows("#parallel h2", "4 of 6 trials")
	p.clean()
}

// Numbers below a plot do not overlap, however long they are.
func TestNumbersBelowAPlotHaveRoom(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "wide.yaml", `version: 1
objective: {metric: a, mode: max}
trainable: {command: [sh, -c, 'echo "{\"a\": $1, \"b\": 1}"', sh, "{x}"]}
space: {x: {grid: [-1.7e308, -1.1e307, 1.3e308, 1.7e308]}}
`)
	if out, err := command(t, dir, "run", "wide.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch titles", chromedp.Evaluate(watchPlaces, nil))
	for _, pixels := range []int64{1300, 700} {
		p.run("width", chromedp.EmulateViewport(pixels, 900))
		p.view("#/x/wide/overview")
		p.run("begin", chromedp.Evaluate("void places.clear()", nil))
		p.view("#/x/wide/pareto")
		p.await(`[...places.values()].some((row) => row.length > 1 &&
			row.every((t) => /308$|e\+307$|^0$/.test(t.text)))`)
		p.await(`[...places.values()].every((row) => row.every((t, i) => i === 0 || t.from >= row[i - 1].to + 4))`)
	}
	p.clean()
}

// watchPlaces keeps what numbers canvases write last, by their height: the axis below a plot is one row.
const watchPlaces = `{
	window.places = new Map();
	const drawing = CanvasRenderingContext2D.prototype, { fillText, clearRect } = drawing;
	drawing.clearRect = function (...at) {
		places.clear();
		return clearRect.apply(this, at);
	};
	drawing.fillText = function (text, x, y, ...more) {
		if (this.textAlign === "center" && /^-?[0-9]/.test(text)) {
			const half = this.measureText(text).width / 2, key = this.canvas.ariaLabel + y;
			places.set(key, [...places.get(key) ?? [], { text, from: x - half, to: x + half }]
				.sort((a, b) => a.from - b.from));
		}
		return fillText.call(this, text, x, y, ...more);
	};
}`

// A plot that cannot be drawn says so: an empty one would say that there is nothing.
func TestPlotThatCannotBeDrawn(t *testing.T) {
	p := window(t)
	dir := plane(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("break", chromedp.Evaluate(`void (CanvasRenderingContext2D.prototype.fillText =
		() => { throw new Error("no pen"); })`, nil))
	p.view("#/x/plane/parallel")
	p.shows("#parallel .failure", "This plot cannot be drawn, which is a fault of this page: Error: no pen")
	p.clean()
}
