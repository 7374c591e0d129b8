package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// watchBoxes keeps the colours of the boxes that canvases fill.
const watchBoxes = `{
	window.boxes = new Set();
	const drawing = CanvasRenderingContext2D.prototype, { fillRect } = drawing;
	drawing.fillRect = function (...at) {
		boxes.add(this.fillStyle);
		return fillRect.apply(this, at);
	};
}`

// The legend of the timeline has the colours that are drawn, in light and in dark, and no others.
func TestLegendOfTheTimeline(t *testing.T) {
	p := window(t)
	dir := population(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch boxes", chromedp.Evaluate(watchBoxes, nil))
	p.view("#/x/pbt/timeline?by=trial")
	for _, theme := range []string{"light", "dark"} {
		p.run(theme, chromedp.Evaluate(fmt.Sprintf("void (document.documentElement.dataset.theme = %q)", theme), nil))
		p.run("begin", chromedp.Evaluate("boxes.clear(), dispatchEvent(new Event('theme'))", nil))
		p.await("boxes.size > 3")
		var drawn, explained string
		p.run("colours", chromedp.Evaluate("[...boxes].sort().join()", &drawn), chromedp.Evaluate(`[...new Set(
			[...document.querySelectorAll("#bars rect")].map((r) => {
				const pen = document.createElement("canvas").getContext("2d");
				pen.fillStyle = getComputedStyle(r).fill;
				return pen.fillStyle;
			}))].sort().join()`, &explained))
		if drawn != explained {
			t.Errorf("%s: %s are drawn, and %s explained", theme, drawn, explained)
		}
	}
	p.clean()
}

// watchStars keeps the stars that are drawn, with the label of their canvas.
const watchStars = `{
	window.stars = [];
	const drawing = CanvasRenderingContext2D.prototype, { beginPath, lineTo, fill, clip, restore } = drawing;
	let cut = false, ends = 0;
	drawing.clip = function (...a) { cut = true; return clip.apply(this, a); };
	drawing.restore = function () { cut = false; return restore.call(this); };
	drawing.beginPath = function () { ends = 0; return beginPath.call(this); };
	drawing.lineTo = function (...a) { ends++; return lineTo.apply(this, a); };
	drawing.fill = function (...a) {
		if (ends === 10 && a.length === 0) stars.push({ cut, label: this.canvas.ariaLabel });
		return fill.apply(this, a);
	};
}`

// The best trial has a star on each plot of trials, a whole one also at the edge: stars are drawn outside of the frame
// that cuts dots.
func TestStarsAreWhole(t *testing.T) {
	p := window(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch stars", chromedp.Evaluate(watchStars, nil))
	p.view("#/x/quickstart/overview")
	p.await(`["Best ", "accuracy of "].every((plot) => stars.some((s) => s.label.startsWith(plot)))`)
	p.view("#/x/quickstart/parameters")
	p.await(`["lr", "layers", "units", "optimizer"].every((x) =>
		stars.some((s) => s.label.startsWith("accuracy by " + x)))`)
	p.view("#/x/quickstart/pareto")
	p.await(`stars.some((s) => s.label.startsWith("loss by accuracy"))`)
	p.await("!stars.some((s) => s.cut)")
	p.clean()
}

// watchMargins keeps the texts that reach beyond their canvas, and the ticks at the left that reach into the title of
// their axis: those of the last drawing of each canvas that is there. One is drawn anew a moment after its size
// changes.
const watchMargins = `{
	window.faults = new Map();
	window.ticks = 0;
	const drawing = CanvasRenderingContext2D.prototype, { fillText, clearRect } = drawing;
	window.begin = () => {
		ticks = 0;
		faults.clear();
		document.querySelectorAll("canvas").forEach((c) => delete c.dataset.drawn);
	};
	window.outside = () => [...faults].flatMap(([c, texts]) => c.isConnected ? texts : []);
	drawing.clearRect = function (...rect) {
		faults.set(this.canvas, []);
		return clearRect.apply(this, rect);
	};
	drawing.fillText = function (text, x, y) {
		const { width } = this.measureText(text), scale = devicePixelRatio, at = this.getTransform();
		const left = x - (this.textAlign === "center" ? width / 2 : this.textAlign === "right" ? width : 0);
		const ends = [[left, y], [left + width, y]].map(([a, b]) => at.transformPoint({ x: a, y: b }));
		const xs = ends.map((e) => e.x / scale), ys = ends.map((e) => e.y / scale);
		const { clientWidth: w, clientHeight: h } = this.canvas;
		if (Math.min(...xs) < -1 || Math.max(...xs) > w + 1 || Math.min(...ys) < -1 || Math.max(...ys) > h + 1)
			faults.get(this.canvas)?.push(this.canvas.ariaLabel.slice(0, 40) + ": " + text);
		if (this.textAlign === "right") {
			ticks++;
			if (left < 16) faults.get(this.canvas)?.push("in the title: " + text);
		}
		return fillText.call(this, text, x, y);
	};
}`

// Plots have room for their ticks and titles, however long these are, and however narrow the page is.
func TestMarginsOfPlots(t *testing.T) {
	p := window(t)
	dir := finished(t)
	longNames(t, dir)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch texts", chromedp.Evaluate(watchMargins, nil))
	for _, pixels := range []int64{1280, 390} {
		p.wide(pixels)
		for _, x := range []string{"quickstart", long} {
			for _, view := range []string{"overview", "trials/0", "parallel", "parameters", "timeline", "lineage"} {
				p.run("begin", chromedp.Evaluate("begin()", nil))
				p.view("#/x/" + x + "/" + view)
				p.await(`!document.querySelector("main .waiting") && document.querySelector("main canvas") &&
					[...document.querySelectorAll("main canvas")].every((c) => c.dataset.drawn > 0)`)
				var outside []string
				settled := time.Now().Add(10 * time.Second)
				for ok := true; ok; ok = len(outside) > 0 && time.Now().Before(settled) {
					p.run("margins of "+view, chromedp.Evaluate("outside()", &outside))
				}
				if len(outside) > 0 {
					t.Errorf("%s of %s, %d pixels wide: %q", view, x, pixels, outside)
				}
				if view != "parallel" {
					p.await("ticks > 1")
				}
			}
		}
	}
	p.clean()
}
