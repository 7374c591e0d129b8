package browser

import (
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// Who opens a printed URL again, of this server or of the next one, sees the colours that were chosen before.
func TestColoursAreKept(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	server := start(t, dir, "serve", "--listen", "127.0.0.1:0")
	p.open(server.url())
	p.press(".top", "auto")
	p.await("document.documentElement.dataset.theme === 'dark'")
	p.open(server.url())
	p.shows("#theme", "dark")
	p.await("document.documentElement.dataset.theme === 'dark'")
	next := start(t, dir, "serve", "--listen", "127.0.0.1:0")
	p.open(next.url())
	p.shows("#theme", "dark")
	p.press(".top", "dark")
	p.press(".top", "light")
	p.await("document.documentElement.dataset.theme === undefined && document.cookie === ''")
	p.open(next.url())
	p.shows("#theme", "auto")
	p.clean()
}

// Of many checkpoints the page of a trial shows the first and the last one, and all on request.
func TestManyCheckpoints(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: saves
objective: {metric: accuracy, mode: max}
trainable: {plugin: digits}
space: {lr: {loguniform: [0.001, 0.1]}}
checkpoint: {every: 1}
stop: {iteration: 7}
trials: 1
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/saves/trials/0")
	const shown = `[...document.querySelectorAll("#checkpoints li")]
		.map(li => li.textContent.match(/^(at \d+|.*)/)[0]).join()`
	p.await(shown + ` === "at 1,show all 7,at 7"`)
	p.press("#checkpoints", "show all 7")
	p.await(shown + ` === "at 1,at 2,at 3,at 4,at 5,at 6,at 7"`)
	p.clean()
}

// strokes keeps the widths of the lines that canvases draw across, and between which places.
const strokes = `{
	window.strokes = [];
	const drawing = CanvasRenderingContext2D.prototype, { moveTo, lineTo, stroke } = drawing;
	let from, to;
	drawing.moveTo = function (x, y) { from = [x, y]; return moveTo.call(this, x, y); };
	drawing.lineTo = function (x, y) { to = [x, y]; return lineTo.call(this, x, y); };
	drawing.stroke = function (...a) {
		if (a.length === 0) window.strokes.push({ from, to, width: this.lineWidth });
		return stroke.apply(this, a);
	};
}`

// The lines of a lineage leave room between trials, however few iterations and trials there are, and what a trial
// continued from another one is drawn over them.
func TestLineageHasRoom(t *testing.T) {
	p := window(t)
	dir := population(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch lines", chromedp.Evaluate(strokes, nil))
	p.view("#/x/pbt/lineage")
	p.await("document.querySelector('#lineage canvas')?.dataset.drawn > 0 && strokes.some(s => s.width > 3)")
	var faults []string
	p.run("look", chromedp.Evaluate(`(() => {
		const across = strokes.filter(s => s.from[1] === s.to[1] && s.from[1] % 1 === 0 && s.from[0] !== s.to[0]);
		const rows = [...new Set(across.map(s => s.from[1]))].sort((a, b) => a - b);
		const gap = Math.min(...rows.slice(1).map((y, i) => y - rows[i]));
		const down = strokes.findIndex(s => s.from[0] === s.to[0] && s.from[0] % 1 !== 0.5);
		const faults = across.filter(s => s.width > gap / 3).map(s => JSON.stringify(s));
		if (rows.length !== 8) faults.push("rows: " + rows);
		if (down < strokes.lastIndexOf(across.at(-1)) && down >= 0 && !strokes.slice(down).some(s => s.width > 1.5))
			faults.push("a line down is below one across");
		return faults;
	})()`, &faults))
	if len(faults) > 0 {
		t.Errorf("%q", faults)
	}
	p.clean()
}

// A trial that another one took over, and that has trained on since, is thick up to where it was taken over: the rest
// of its line is no part of how the best came about.
func TestLineageIsThickUntilTheDescent(t *testing.T) {
	p := window(t)
	dir := population(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch lines", chromedp.Evaluate(strokes, nil))
	p.view("#/x/pbt/lineage")
	p.await("document.querySelector('#lineage canvas')?.dataset.drawn > 0 && strokes.some(s => s.width > 3)")
	p.await(`(() => {
		const thick = strokes.filter((s) => s.width > 3 && s.from[1] === s.to[1]).map((s) => [s.from[0], s.to[0]]);
		const parts = [...new Set(thick.map((s) => s.join()))].map((s) => s.split(",").map(Number))
			.sort((a, b) => a[0] - b[0]);
		return parts.length > 1 && parts.every(([from], i) => i === 0 || parts[i - 1][1] <= from + 1e-6);
	})()`)
	p.clean()
}

// population runs the example of population based training.
func population(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text, err := os.ReadFile("../../../examples/pbt/experiment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "x.yaml", string(text))
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// Long names on plots are shortened in their middle, do not overlap, and are whole below the pointer.
func TestLongNamesOnPlots(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	longNames(t, dir)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch canvases", chromedp.Evaluate(watchTitles, nil))
	p.view("#/x/" + long + "/parallel")
	p.await("document.querySelector('#parallel canvas')?.titles?.length === 3")
	var over []string
	p.run("titles", chromedp.Evaluate(overlapping, &over))
	if len(over) > 0 {
		t.Errorf("overlapping: %q", over)
	}
	metric := long + "_metric"
	p.run("narrow", chromedp.EmulateViewport(600, 900))
	title := `document.querySelector("#parallel canvas").titles.find((t) => /^long_.*….*_metric$/.test(t.text))`
	p.await(title)
	p.hover("#parallel canvas", fmt.Sprintf("(%[1]s.from + %[1]s.to) / 2", title), title+".y")
	p.await(fmt.Sprintf("document.querySelector('#parallel .tip')?.textContent === %q", metric))
	p.run("watch texts", chromedp.Evaluate(watchDrawn, nil))
	p.view("#/x/" + long + "/parameters")
	p.await(`drawn.some((text) => /^long_.*…/.test(text) && text.endsWith(text.includes("_metric") ? "_metric" : ""))`)
	var cut []string
	p.run("texts", chromedp.Evaluate(`drawn.filter((text) => text.endsWith("…"))`, &cut))
	if len(cut) > 0 {
		t.Errorf("the ends of these are cut off: %q", cut)
	}
	p.clean()
}

// hover moves the pointer to a place of a canvas, which expressions of JavaScript say.
func (p *page) hover(canvas, x, y string) {
	p.t.Helper()
	p.run("hover", chromedp.Evaluate(fmt.Sprintf(`{
		const canvas = document.querySelector(%q), box = canvas.getBoundingClientRect();
		canvas.dispatchEvent(new PointerEvent("pointermove",
			{bubbles: true, clientX: box.left + (%s), clientY: box.top + (%s)}));
	}`, canvas, x, y), nil))
}
