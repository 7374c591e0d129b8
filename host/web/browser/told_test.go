package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// picky runs an experiment in which asha stops most trials, for reasons that are long. A parameter needs more than a
// number of JavaScript.
func picky(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "trial.sh", `echo "{\"val_accuracy\": 0.4567$1}"
for i in 2 3 4; do echo "{\"val_accuracy\": 0.5567$1}"; done
`)
	write(t, dir, "x.yaml", `version: 1
name: picky
objective: {metric: val_accuracy, mode: max}
trainable: {command: [sh, trial.sh, "{n}"]}
space: {n: {grid: [9, 8, 7, 6, 5, 4, 3, 2, 1]}, big: {choice: [9007199254740993]}}
scheduler: {plugin: asha, max: 4}
concurrency: 1
trials: 1
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// What counts in the reason of the scheduler is seen in the list: the value and the iteration have columns of their
// own. On a phone the reason is in sight. The pointer and the focus show it whole.
func TestReasonsInTheList(t *testing.T) {
	p := window(t)
	dir := picky(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.run("focus as a window in front", emulation.SetFocusEmulationEnabled(true))
	p.open(server.url() + "#/x/picky/trials")
	p.wide(1280)
	const reasons = `[...document.querySelectorAll(".rows .why .short")]
		.filter((s) => s.textContent.startsWith("not among the best "))`
	p.await(reasons + ".length > 2")
	p.await(reasons + ".every((s) => s.scrollWidth <= s.clientWidth)")
	p.await(`[...document.querySelectorAll(".rows .why .whole")]
		.some((s) => s.textContent.includes("val_accuracy 0.4567"))`)
	p.run("focus", chromedp.Evaluate(reasons+"[0].parentElement.focus()", nil))
	p.await(reasons + "[0].nextElementSibling.checkVisibility()")
	p.wide(390)
	p.await(reasons + ".every((s) => s.getBoundingClientRect().left < 300)")
	p.await(`[...document.querySelectorAll(".rows .state")].every((s) => s.textContent.trim().length > 3)`)
	p.clean()
}

// Whole numbers that need more than a number of JavaScript are shown and sent as they are.
func TestLargeWholeNumbers(t *testing.T) {
	p := window(t)
	dir := picky(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/picky/trials/0")
	p.shows("#parameters", "9007199254740993")
	p.view("#/x/picky")
	p.shows("#best .code", "9007199254740993")
	p.press(".steering", "Settings")
	p.fill("dialog textarea", "stop.iteration=9007199254740993")
	p.press("dialog", "Change")
	p.shows("dialog", "found the number 9007199254740993")
	p.fill("dialog textarea", "stop.iteration=9007199254740991")
	p.press("dialog", "Change")
	p.shows("#later", "9007199254740991")
	p.view("#/x/picky/parallel")
	p.await("document.querySelector('#parallel canvas')?.dataset.drawn > 0")
	p.clean()
	q := p.another()
	q.report(dir)
	q.view("#/x/picky/trials/0")
	q.shows("#parameters", "9007199254740993")
	q.shows("#facts", "suggested by")
	q.shows("#facts", "the searcher")
	q.clean()
}

// Settings are written as in a file, and not as JSON.
func TestSettingsAreReadable(t *testing.T) {
	p := window(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart/file")
	p.shows("#settings", "at_end: ")
	p.await(`!/[{}"]/.test(document.querySelector("#settings").textContent)`)
	server.kill()
	p.shows(".lost", "Start it again as before, or tunehost serve ")
	p.shows(".lost", "open the URL that it prints")
	p.clean()
}

// Leases that may still use a cluster are named on the overview, as `tunehost status` names them.
func TestLeasesNotGivenBack(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: leased
objective: {metric: a, mode: max}
trainable: {command: [sh, -c, 'echo "{\"a\": {n}}"']}
space: {n: {int: [1, 9]}}
executor: {plugin: fake, nodes: 1, cpu: 1}
trials: 2
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file := filepath.Join(dir, "results", "leased", "unreleased.json")
	if err := os.WriteFile(file, []byte(`[{"executor": "slurm", "names": ["lease-7","lease-9"]}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/leased/overview")
	p.shows("#unreleased", "2 leases were not given back by the executor slurm, and may still use the cluster: "+
		"lease-7, lease-9. "+
		"Cancel what has these names with the cluster's own command, or continue with executor=slurm.")
	p.clean()
}

// watchTexts keeps the texts that canvases write, and the lines that they stroke.
const watchTexts = `{
	window.texts = new Set();
	window.strokes = [];
	const drawing = CanvasRenderingContext2D.prototype, { fillText, beginPath, moveTo, lineTo, stroke } = drawing;
	let path = [];
	drawing.fillText = function (text, ...at) { texts.add(text); return fillText.call(this, text, ...at); };
	drawing.beginPath = function () { path = []; return beginPath.call(this); };
	drawing.moveTo = function (...at) { path.push(at); return moveTo.apply(this, at); };
	drawing.lineTo = function (...at) { path.push(at); return lineTo.apply(this, at); };
	drawing.stroke = function (...a) {
		strokes.push({ path, width: this.lineWidth, colour: this.strokeStyle, label: this.canvas.ariaLabel });
		return stroke.apply(this, a);
	};
}`

// The axes of a Pareto plot say which direction is better, and a third objective's colours are explained.
func TestParetoIsExplained(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: three
objectives: [{metric: acc, mode: max}, {metric: latency, mode: min}, {metric: size, mode: min}]
trainable: {command: [sh, -c, 'echo "{\"acc\": {n}, \"latency\": {n}, \"size\": {n}}"']}
space: {n: {int: [1, 9]}}
trials: 4
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch texts", chromedp.Evaluate(watchTexts, nil))
	p.view("#/x/three/pareto")
	p.await(`["acc (higher is better)", "latency (lower is better)", "size (lower is better)"]
		.every((x) => texts.has(x))`)
	p.await(`document.querySelectorAll("#pareto canvas[aria-label^='colours from']").length === 3`)
	p.shows("#pareto", "size (lower is better), by rank, the best blue:")
	p.view("#/x/three/trials")
	p.await(`document.querySelector(".rows .star")?.title === "on the front"`)
	p.clean()
}

// Arrows of the lineage do not lie on each other, a table has all of them, and those that left nothing to train are
// named.
func TestLineageIsTold(t *testing.T) {
	p := window(t)
	dir := population(t)
	var from, untrained int
	list := answers[struct {
		Number int
		Parent *int
	}](t, dir, "lineage", "results/pbt")
	for _, s := range list {
		if s.Parent != nil && list[*s.Parent].Number != s.Number {
			from++
		}
	}
	untrained = len(answers[trial](t, dir, "trials", "results/pbt", "--where", "cause == 'nothing_left'"))
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch lines", chromedp.Evaluate(watchTexts, nil))
	p.view("#/x/pbt/lineage")
	p.shows("#copied", fmt.Sprintf("%d times", from))
	p.await(fmt.Sprintf(`document.querySelectorAll("#steps tbody tr").length === %d`, from))
	p.await(fmt.Sprintf(`document.querySelectorAll("#copied a").length === %d`, untrained))
	p.await(`document.querySelector("#lineage canvas")?.dataset.drawn > 0`)
	var over int
	p.run("arrows", chromedp.Evaluate(`(() => {
		const arrows = strokes.filter((s) => s.label.includes("on the way to the best") &&
			(s.width === 2 || s.width.toFixed(1) === "0.8"))
			.map(({ path: [[x, a], [, b]] }) => ({ x, low: Math.min(a, b), high: Math.max(a, b) }));
		const apart = [...new Map(arrows.map((a) => [JSON.stringify(a), a])).values()];
		return apart.flatMap((a, i) => apart.slice(i + 1).filter((b) =>
			Math.abs(a.x - b.x) < 4 && a.low < b.high && b.low < a.high)).length + (apart.length < 2 ? 1000 : 0);
	})()`, &over))
	if over != 0 {
		t.Errorf("%d arrows lie on others", over)
	}
	p.clean()
}

// The highlighted line of parallel coordinates has no colour of the scale of ranks, whose worst is yellow.
func TestHighlightIsNoRank(t *testing.T) {
	p := window(t)
	server := start(t, plane(t), "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch lines", chromedp.Evaluate(watchTexts, nil))
	p.view("#/x/plane/parallel")
	for _, theme := range []string{"light", "dark"} {
		p.run(theme, chromedp.Evaluate(fmt.Sprintf("document.documentElement.dataset.theme = %q, strokes.length = 0, "+
			"dispatchEvent(new Event('theme'))", theme), nil))
		p.await(`strokes.some((s) => s.width === 3 && s.label.startsWith("Parallel"))`)
		// red is well above green there, and at no rank
		p.await(`strokes.filter((s) => s.width === 3 && s.label.startsWith("Parallel")).every(({ colour }) => {
			const [r, g] = [1, 3].map((i) => parseInt(colour.slice(i, i + 2), 16));
			return r - g > 100;
		})`)
	}
	p.clean()
}
