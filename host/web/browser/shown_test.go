package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// ran runs an experiment.
func ran(t *testing.T, dir, file string) {
	t.Helper()
	write(t, dir, "x.yaml", file)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// steady is an experiment of 60 trials, whose values are close to each other.
const steady = `version: 1
name: steady
objective: {metric: a, mode: min}
trainable: {command: [sh, -c, 'echo "{\"a\": 0.3346$((70 - $1))}"', sh, "{n}"]}
space: {n: {grid: [%s]}}
trials: 1
resources: {cpu: 0.1}
`

// A comparison shows where each experiment has come to, however many trials another one has; and the numbers of an
// axis differ.
func TestComparedAreShown(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	numbers := make([]string, 60)
	for i := range numbers {
		numbers[i] = fmt.Sprint(i + 1)
	}
	ran(t, dir, fmt.Sprintf(steady, strings.Join(numbers, ", ")))
	ran(t, dir, `version: 1
name: better
objective: {metric: a, mode: min}
trainable: {command: [echo, '{"a": 0.1}']}
space: {n: {uniform: [0, 1]}}
trials: 3
`)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch texts", chromedp.Evaluate(watchTicks, nil))
	p.view("#/compare?of=steady,better")
	p.await(`document.querySelector("#compared canvas")?.dataset.drawn > 0`)
	p.await(`!document.querySelector("#compared .far")`)
	p.view("#/x/steady")
	p.await(`(() => {
		const ticks = drawn().filter((t) => /^Best a so far.*: 0\.33\d+$/.test(t));
		return ticks.length > 2 && new Set(ticks).size === ticks.length;
	})()`)
	p.clean()
}

// The value of a parameter follows its name also where the name is read from right to left.
func TestRightToLeftNames(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	ran(t, dir, `version: 1
name: rtl
objective: {metric: a, mode: max}
trainable: {command: [echo, '{"a": 1}']}
space: {مرحبا بالعالم: {uniform: [0, 1]}}
trials: 1
`)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/rtl")
	p.await(`(() => {
		const pre = document.querySelector("#best pre");
		const walk = pre && document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
		const place = (text) => {
			walk.currentNode = pre;
			while (walk.nextNode()) {
				const at = walk.currentNode.data.indexOf(text);
				if (at < 0) continue;
				const range = document.createRange();
				range.setStart(walk.currentNode, at);
				range.setEnd(walk.currentNode, at + text.length);
				return range.getBoundingClientRect();
			}
		};
		return walk && place("0.").left > place("مرحبا").right;
	})()`)
	p.clean()
}

// A name as long as names may be leaves room for the other columns of the list, and numbers of resources stay in their
// card in the narrowest window.
func TestRoomBesideLongTexts(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	ran(t, dir, fmt.Sprintf(`version: 1
name: %s
objective: {metric: a, mode: max}
trainable: {command: [echo, '{"a": 1}']}
space: {n: {uniform: [0, 1]}}
trials: 1
`, strings.Repeat("long", 48)))
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.await(`document.querySelector("#experiments canvas, #experiments .changed")`)
	p.await(`(() => {
		const box = document.querySelector("#experiments").parentElement;
		return box.scrollWidth <= box.clientWidth;
	})()`)
	p.run("narrow", chromedp.EmulateViewport(320, 800))
	p.view("#/x/" + strings.Repeat("long", 48) + "/resources")
	p.await(`document.querySelector("#resources tbody tr")`)
	p.await(`document.scrollingElement.scrollWidth <= innerWidth`)
	p.clean()
}

// Numbers beside an axis of parallel coordinates do not reach the next axis in a narrow window: the plot scrolls.
func TestNumbersOfAxes(t *testing.T) {
	p := window(t)
	server := start(t, finished(t), "serve", "results", "--listen", "127.0.0.1:0")
	p.run("narrow", chromedp.EmulateViewport(360, 800))
	p.open(server.url() + "#/")
	p.run("watch numbers", chromedp.Evaluate(`{
		const drawing = CanvasRenderingContext2D.prototype, { fillText, clearRect } = drawing;
		drawing.clearRect = function (...box) {
			this.canvas.numbers = [];
			return clearRect.apply(this, box);
		};
		drawing.fillText = function (text, x, y) {
			const to = x + this.measureText(text).width;
			if (this.textAlign === "left") this.canvas.numbers?.push({ text, from: x, y, to });
			return fillText.call(this, text, x, y);
		};
	}`, nil))
	p.view("#/x/quickstart/parallel")
	p.await(`document.querySelector("#parallel .sideways")?.scrollWidth > 360`)
	p.await(`(() => {
		const { numbers } = document.querySelector("#parallel canvas");
		const overlap = (a, b) => a !== b && Math.abs(a.y - b.y) < 12 && a.from < b.to && b.from < a.to;
		return numbers.length > 10 && !numbers.some((a) => numbers.some((b) => overlap(a, b)));
	})()`)
	p.clean()
}

// Learning curves explain the signs that there are, and no others.
func TestSignsOfCurves(t *testing.T) {
	p := window(t)
	dir := finished(t)
	write(t, dir, "y.yaml", `version: 1
name: flawed
objective: {metric: a, mode: max}
trainable: {command: [sh, -c, 'echo "{\"a\": $1}"; exit $1', sh, "{n}"]}
space: {n: {grid: [0, 1]}}
trials: 1
`)
	_ = command(t, dir, "run", "y.yaml").Run() // a trial fails
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart")
	p.shows("#curves", "✕ stopped early · ● finished; ")
	p.view("#/x/flawed")
	p.shows("#curves", "✕ failed · ● finished; ")
	p.clean()
}

// A printed table of trials has all trials that were read, with all columns.
func TestPrintedTrials(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	numbers := make([]string, 60)
	for i := range numbers {
		numbers[i] = fmt.Sprint(i + 1)
	}
	ran(t, dir, fmt.Sprintf(steady, strings.Join(numbers, ", ")))
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/steady/trials")
	p.shows("#found", "60 trials")
	p.run("print", chromedp.Evaluate(`dispatchEvent(new Event("beforeprint"))`, nil))
	p.await(`document.querySelectorAll(".rows .tr").length === 60`)
	p.run("printed", chromedp.Evaluate(`dispatchEvent(new Event("afterprint"))`, nil))
	p.await(`document.querySelectorAll(".rows .tr").length < 60`)
	p.clean()
}

// The plot of a front has a dot for each suggestion, at the means of its runs.
func TestFrontOfMeans(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	ran(t, dir, `version: 1
name: means
objectives: [{metric: a, mode: min}, {metric: b, mode: min}]
trainable: {command: [sh, -c, 'echo "{\"a\": $1, \"b\": $((3 - $1 % 3))}"', x, "{n}"]}
space: {n: {grid: [1, 2, 3, 4]}}
repeat: 3
trials: 1
`)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/means/pareto")
	p.await(`document.querySelector("[aria-label='b by a: 4 suggestions, 2 of them on the front']")`)
	p.shows("main", "Each dot is the mean of the runs of a suggestion.")
	p.clean()
}

// A comparison tells which of its experiments do not exist, and shows the others; an address with names that there are
// not is told.
func TestNamesThatAreNot(t *testing.T) {
	p := window(t)
	server := start(t, finished(t), "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/compare?of=quickstart,gone,quickstart")
	p.shows("main .failure", `there is no such experiment: "gone"`)
	p.await(`document.querySelector("#compared canvas")?.dataset.drawn > 0`)
	p.view("#/compare?of=")
	p.shows("main", "Select two or more experiments")
	for view, text := range map[string]string{"trials?columns=nope": `there is no column "nope"`,
		"parallel?axes=nope": `there is no parameter or metric "nope"`,
		"parameters?a=nope":  `there is no parameter "nope"`,
		"pareto?a=nope":      `there is no metric "nope"`} {
		p.view("#/x/quickstart/" + view)
		p.shows("main .failure", text)
	}
	p.clean()
}

// Two lines of settings with the same key, or one without a key or a value, are mistakes.
func TestMistakenSettings(t *testing.T) {
	p := window(t)
	server := start(t, plane(t), "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/plane")
	p.press(".steering", "Settings")
	for text, want := range map[string]string{"stop.iteration=19\nstop.iteration=18": "stop.iteration is given twice",
		"nope": `"nope": expected KEY=VALUE`, "=5": `"=5": expected KEY=VALUE`,
		"stop.time:": "stop.time=null removes the key"} {
		p.fill("dialog textarea", text)
		p.press("dialog", "Change")
		p.shows("dialog .failure", want)
	}
	p.clean()
}
