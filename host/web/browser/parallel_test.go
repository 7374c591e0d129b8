package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// watchTitles keeps what each canvas has written above its axes since it was cleared, with its left and right end.
const watchTitles = `{
	const drawing = CanvasRenderingContext2D.prototype, { fillText, clearRect } = drawing;
	drawing.clearRect = function (...box) {
		this.canvas.titles = [];
		return clearRect.apply(this, box);
	};
	drawing.fillText = function (text, x, y) {
		const half = this.measureText(text).width / 2;
		if (y < 30 && this.textAlign === "center") this.canvas.titles?.push({ text, y, from: x - half, to: x + half });
		return fillText.call(this, text, x, y);
	};
}`

// overlapping are the titles that overlap another one, or that reach beyond the canvas.
const overlapping = `(() => {
	const canvas = document.querySelector("#parallel canvas"), { titles } = canvas;
	return titles.filter((a, i) => a.from < 0 || a.to > canvas.clientWidth ||
		titles.some((b, j) => i < j && Math.abs(a.y - b.y) < 12 && a.from < b.to && b.from < a.to)).map((a) => a.text);
})()`

// Titles of axes do not overlap on a phone, and are whole on a desktop.
func TestTitlesOfAxes(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: axes
objective: {metric: accuracy, mode: max}
trainable: {command: [sh, -c, 'echo "{\"accuracy\": 0.5}"']}
space:
  learning_rate: {loguniform: [0.001, 0.1]}
  weight_decay: {uniform: [0, 1]}
  batch_size: {int: [1, 9]}
  hidden_units: {int: [1, 9]}
  momentum: {uniform: [0, 1]}
trials: 3
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch canvases", chromedp.Evaluate(watchTitles, nil))
	for width, shortened := range map[int64]bool{390: true, 1300: false} {
		p.run("size", chromedp.EmulateViewport(width, 844))
		p.view("#/")
		p.shows("#experiments", "axes")
		p.view("#/x/axes/parallel")
		p.await("document.querySelector('#parallel canvas')?.titles?.length === 6")
		var over []string
		var short bool
		p.run("titles", chromedp.Evaluate(overlapping, &over), chromedp.Evaluate(
			`document.querySelector("#parallel canvas").titles.some((a) => a.text.includes("…"))`, &short))
		if len(over) > 0 || short != shortened {
			t.Errorf("%d pixels wide: overlapping: %q; shortened: %v", width, over, short)
		}
	}
	p.clean()
}

// The axis of a metric is logarithmic where those of other views are, until somebody wants another one.
func TestAxesOfWideMetrics(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: wide
objective: {metric: loss, mode: min}
trainable: {command: [sh, -c, 'echo "{\"loss\": 1e$TUNEHOST_PARAM_N, \"size\": $TUNEHOST_PARAM_N}"']}
space: {n: {grid: [-8, -2, 3, 7]}}
trials: 4
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch canvases", chromedp.Evaluate(watchTitles, nil))
	p.view("#/x/wide/parallel?axes=n,loss,size")
	const titles = `document.querySelector("#parallel canvas")?.titles?.map((a) => a.text).join()`
	p.await(titles + ` === "n,loss (log),size"`)
	p.await(`document.querySelector("[aria-label='log axis of loss']").getAttribute("aria-pressed") === "true"`)
	p.press("#parallel .axes", "log") // that of loss: n has choices
	p.await(titles + ` === "n,loss,size"`)
	p.clean()
}
