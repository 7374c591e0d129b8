package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// watchLines keeps how many lines of each look the canvas of the parallel coordinates has stroked since it was cleared:
// faint ones are left out, warm ones are highlighted.
const watchLines = `{
	const drawing = CanvasRenderingContext2D.prototype, { clearRect, stroke, lineTo, beginPath } = drawing;
	const { moveTo } = Path2D.prototype;
	Path2D.prototype.moveTo = function (...a) { this.lines = (this.lines ?? 0) + 1; return moveTo.apply(this, a); };
	drawing.clearRect = function (...a) {
		this.canvas.strokes = { faint: 0, full: 0 };
		this.canvas.bold = [];
		return clearRect.apply(this, a);
	};
	drawing.beginPath = function () { this.canvas.path = []; return beginPath.call(this); };
	drawing.lineTo = function (x, y) { this.canvas.path?.push([x, y]); return lineTo.call(this, x, y); };
	drawing.stroke = function (path) {
		const { strokes, path: points } = this.canvas;
		if (path?.lines) strokes[this.globalAlpha < 0.2 ? "faint" : "full"] += path.lines;
		else if (this.lineWidth === 3) this.canvas.bold = points;
		return path ? stroke.call(this, path) : stroke.call(this);
	};
}`

// plane has the experiment of sixteen trials whose lines are known: x and y are 0 to 3, and the value is 10 x + y.
func plane(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: plane
objective: {metric: v, mode: max}
trainable: {command: [sh, -c, 'echo "{\"v\": $((10 * {x} + {y}))}"']}
space:
  x: {grid: [0, 1, 2, 3]}
  y: {grid: [0, 1, 2, 3]}
trials: 1
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// mouse presses the button at one place of the canvas, and lets it go at another.
func (p *page) mouse(fromX, fromY, toX, toY float64) {
	p.t.Helper()
	var box struct{ Left, Top float64 }
	p.run("place of the canvas", chromedp.Evaluate(`(() => {
		const canvas = document.querySelector("#parallel canvas");
		canvas.scrollIntoView({block: "center"});
		const { left, top } = canvas.getBoundingClientRect();
		return { Left: left, Top: top };
	})()`, &box))
	x, y, atX, atY := box.Left+fromX, box.Top+fromY, box.Left+toX, box.Top+toY
	p.run("drag", input.DispatchMouseEvent(input.MouseMoved, x, y),
		input.DispatchMouseEvent(input.MousePressed, x, y).WithButton(input.Left).WithClickCount(1),
		input.DispatchMouseEvent(input.MouseMoved, (x+atX)/2, (y+atY)/2).WithButton(input.Left),
		input.DispatchMouseEvent(input.MouseMoved, atX, atY).WithButton(input.Left),
		input.DispatchMouseEvent(input.MouseReleased, atX, atY).WithButton(input.Left).WithClickCount(1))
}

// Axes of parallel coordinates are brushed, hidden, shown again and moved; one line is highlighted by its number. What
// is brushed is what the list of trials then shows.
func TestParallelCoordinates(t *testing.T) {
	p := window(t)
	dir := plane(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch canvases", chromedp.Evaluate(watchTitles, nil), chromedp.Evaluate(watchLines, nil))
	p.view("#/x/plane/parallel")
	const canvas = `document.querySelector("#parallel canvas")`
	titles := func(want string) {
		p.t.Helper()
		p.await(fmt.Sprintf(canvas+`?.titles?.map((a) => a.text).join() === %q`, want))
	}
	lines := func(full, faint int) {
		p.t.Helper()
		p.await(fmt.Sprintf(canvas+`.strokes.full === %d && `+canvas+`.strokes.faint === %d`, full, faint))
	}
	titles("x,y,v")
	lines(16, 0)
	p.await(canvas + `.bold.length === 3`) // the best
	var width float64
	p.run("width", chromedp.Evaluate(canvas+".clientWidth", &width))

	// the four choices of an axis are 44, 132, 220 and 308 pixels below its upper end, which is at 34
	p.mouse(50, 34+90, 50, 34+170)
	lines(4, 12) // x = 2
	p.mouse(width/2, 34+350, width/2, 34+180)
	lines(2, 14) // x = 2 and y = 0 or 1
	p.run("the list", chromedp.Evaluate(`[...document.querySelectorAll("#parallel a")]
		.find((a) => a.textContent.includes("as a table")).click()`, nil))
	p.shows("#found", "2 of 16 trials")
	p.await(cells("v") + ` === "20,21"`)
	p.run("back", chromedp.NavigateBack())
	p.await(views["parallel"])
	titles("x,y,v")
	lines(2, 14) // the address has kept what was chosen
	p.shows("#parallel h2", "2 of 16 trials")
	p.press("#parallel", "choose all")
	lines(16, 0)
	p.mouse(50, 34+90, 50, 34+170)
	lines(4, 12)
	p.mouse(50, 100, 50, 100) // a click drops the range
	lines(16, 0)

	// the keyboard chooses, too
	p.typed("v from", "20.5")
	lines(7, 9) // 21 to 23, and 30 to 33
	p.typed("v to", "30")
	lines(4, 12)
	p.shows("#parallel h2", "4 of 16 trials")
	p.typed("x is", "2")
	lines(3, 13)
	p.press("#parallel", "choose all")
	lines(16, 0)

	p.run("hide", chromedp.Click("[aria-label='hide y']"))
	titles("x,v")
	p.await(`location.hash.includes("axes=x%2Cv")`)
	p.press(".axes", "+ y")
	titles("x,v,y")
	p.run("move", chromedp.Click("[aria-label='move y left']"))
	titles("x,y,v")
	p.run("move", chromedp.Click("[aria-label='move x right']"))
	titles("y,x,v")
	p.run("reload", chromedp.Reload())
	p.await(`location.hash.includes("axes=y%2Cx%2Cv")`)
	p.await(`[...document.querySelectorAll(".axis strong")].map((n) => n.textContent).join() === "y,x,v"`)

	p.run("watch canvases", chromedp.Evaluate(watchLines, nil))
	low := answers[struct{ Number int }](t, dir, "trials", "results/plane", "--where", "v == 3")[0].Number
	p.fill("#parallel input[type=number]", fmt.Sprint(low))
	// y = 3 is above, x = 0 and v = 3 are below
	p.await(canvas + `.bold?.length === 3 && ` + canvas + `.bold[0][1] < 100 && ` + canvas + `.bold[1][1] > 300`)
	p.shows("#highlighted", fmt.Sprint("trial ", low))
	p.fill("#parallel input[type=number]", "999")
	p.shows("#parallel .failure", `no trial "999": give a number from 0 to 15`)
	p.shows("#highlighted", "the best is")
	p.clean()
}

// typed changes a field as the keyboard does: when it is left.
func (p *page) typed(label, text string) {
	p.t.Helper()
	p.run("type "+label, chromedp.Evaluate(fmt.Sprintf(`{
		const field = document.querySelector(%q);
		field.value = %q;
		field.dispatchEvent(new Event("change", {bubbles: true}));
	}`, fmt.Sprintf("[aria-label='%s']", label), text), nil))
}

// Three objectives have a plot for each two of them; the front is what the command prints.
func TestFrontOfThree(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: three
objectives:
  - {metric: a, mode: max}
  - {metric: b, mode: min}
  - {metric: c, mode: max}
trainable: {command: [sh, -c, 'echo "{\"a\": {x}, \"b\": $(({x} + {y})), \"c\": $(({y} * (3 - {y})))}"']}
space:
  x: {grid: [0, 1, 2]}
  y: {grid: [0, 1, 2, 3]}
trials: 1
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	front := answers[struct{ Number int }](t, dir, "best", "results/three", "--pareto")
	if len(front) < 2 || len(front) > 11 {
		t.Fatalf("%d trials on the front", len(front))
	}
	list := ""
	for i, x := range front {
		if list += fmt.Sprint(x.Number); i < len(front)-1 {
			list += ","
		}
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/three/pareto")
	p.await(`[...document.querySelectorAll("#pareto h2")].map((h) => h.textContent).join("|") ===
		"b by a, coloured by c|c by a, coloured by b|c by b, coloured by a"`)
	const plots = `[...document.querySelectorAll("#pareto canvas:not([aria-label^=colours])")]`
	p.await(plots + ".filter((c) => c.dataset.drawn > 0).length === 3")
	p.await(fmt.Sprintf(plots+`.every((c) =>
		c.ariaLabel.endsWith(": 12 trials, %d of them on the front"))`, len(front)))
	const texts = `[...document.querySelectorAll("#front %s")].map((e) => e.textContent).join() === %q`
	p.await(fmt.Sprintf(texts, "tbody a", list))
	p.await(fmt.Sprintf(texts, "th", "trial,state,a,b,c,iteration,parameters"))
	p.clean()
}
