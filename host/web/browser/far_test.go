package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// far is an experiment of 40 trials with three results each, of which one trial reports a value far from all others.
const far = `version: 1
name: %s
objective: {metric: a, mode: min}
trainable:
  command: [sh, -c, 'for i in 1 2 3; do if [ $1 = 7 ]; then echo "{\"a\": %s}"; else echo "{\"a\": 17.$1}"; fi; done',
    sh, "{n}"]
space: {n: {grid: [%s]}}
concurrency: 8
resources: {cpu: 0.1}
`

// watchTicks keeps the texts that canvases draw, with their labels.
const watchTicks = `{
	let texts = [];
	const drawing = CanvasRenderingContext2D.prototype, { fillText } = drawing;
	drawing.fillText = function (...at) {
		texts.push(this.canvas.ariaLabel + ": " + at[0]);
		return fillText.apply(this, at);
	};
	window.drawn = () => { // the last time; it is drawn again for the next one
		const was = texts;
		texts = [];
		dispatchEvent(new Event("theme"));
		return was;
	};
}`

// One value that is far from all others does not hide what the others are: it is at the edge of the plots, they say how
// many values are, and show all of them when they are asked to.
func TestFarValues(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	numbers := "7"
	for i := 10; i < 49; i++ {
		numbers += fmt.Sprint(", ", i)
	}
	for name, value := range map[string]string{"huge": "1e300", "large": "1e9", "deep": "-1e300"} {
		write(t, dir, name+".yaml", fmt.Sprintf(far, name, value, numbers))
		if out, err := command(t, dir, "run", name+".yaml").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch texts", chromedp.Evaluate(watchTicks, nil))
	for name, value := range map[string]string{"huge": "1e+300", "large": "1e+09", "deep": "-1e+300"} {
		for _, plot := range []struct{ page, card, far, label string }{
			{"overview", "#history", "1 of 40 values lies far from all others", "Best a so far"},
			{"overview", "#curves", "3 of 120 values lie far from all others", "a of 40 trials by iteration"},
			{"parameters", "main", "1 of 40 values lies far from all others", "a by n"},
		} {
			p.view("#/x/" + name + "/" + plot.page)
			p.shows(plot.card+" .far", plot.far)
			p.shows(plot.card+" .far", value)
			const ticks = "drawn().filter((t) => t.startsWith(%q)).map((t) => t.endsWith(': 17.2')).sort().at(-1) " +
				"=== %t"
			p.await(fmt.Sprintf(ticks, plot.label, true))
			p.press(plot.card, "all values")
			p.await(fmt.Sprintf("!document.querySelector(%q)", plot.card+" .far"))
			p.await(fmt.Sprintf(ticks, plot.label, false))
			p.press(plot.card, "usual values")
			p.shows(plot.card+" .far", plot.far)
		}
	}
	p.clean()
}

// Where nothing says which values of a metric are better, its usual values are shown, also if the better half of
// another metric was asked for.
func TestUsualValuesOfAnotherMetric(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: two
objective: {metric: a, mode: min}
trainable:
  command: [sh, -c, 'b=17.$1; [ $1 = 7 ] && b=1e9; echo "{\"a\": $1, \"b\": $b}"', sh, "{n}"]
space: {n: {grid: [7, 10, 11, 12, 13, 14, 15, 16]}}
resources: {cpu: 0.1}
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/two/overview")
	p.press("#curves", "better half")
	p.run("another metric", chromedp.Evaluate(`{
		const list = document.querySelector("#curves select");
		list.value = "b";
		list.dispatchEvent(new Event("change", {bubbles: true}));
	}`, nil))
	p.await(`document.querySelector("#curves [aria-pressed=true]")?.textContent === "usual values"`)
	p.shows("#curves .far", "1 of 8 values lies far from all others")
	p.clean()
}
