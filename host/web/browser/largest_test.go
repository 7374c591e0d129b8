package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// given is an experiment of trials whose values are listed, by their numbers.
const given = `version: 1
name: %s
objective: {metric: a, mode: max}
trainable:
  command: [sh, -c, 'n=$1; shift $((n + 1)); echo "{\"a\": $1}"', sh, "{n}", %s]
space: {n: {grid: [%s]}}
concurrency: 8
resources: {cpu: 0.1}
`

// giving runs an experiment whose trials have these values.
func giving(t *testing.T, dir, name string, values ...string) {
	t.Helper()
	list, numbers := "", ""
	for i, v := range values {
		list += fmt.Sprintf(`, "%s"`, v)
		numbers += fmt.Sprintf(", %d", i)
	}
	write(t, dir, name+".yaml", fmt.Sprintf(given, name, list[2:], numbers[2:]))
	out, err := command(t, dir, "run", name+".yaml").CombinedOutput()
	if err != nil && !strings.Contains(string(out), "were NaN") {
		t.Fatalf("%v: %s", err, out)
	}
}

// watchMarks keeps what canvases draw at places that there are, with their labels: dots of lines ("arc"), stars and
// triangles ("closed"), dots of points ("rect"), and texts.
const watchMarks = `{
	let marks = [];
	const drawing = CanvasRenderingContext2D.prototype;
	const watch = (name, kind) => {
		const was = drawing[name];
		drawing[name] = function (...at) {
			const given = at.filter((x) => typeof x === "number");
			if (given.every(Number.isFinite)) marks.push(this.canvas.ariaLabel + "|" + (kind ?? at[0]));
			return was.apply(this, at);
		};
	};
	watch("arc", "arc"), watch("closePath", "closed"), watch("fillRect", "rect"), watch("fillText");
	window.drawn = () => { // the last time; it is drawn again for the next one
		const was = marks;
		marks = [];
		dispatchEvent(new Event("theme"));
		return was;
	};
	window.count = (label, kind) => drawn().filter((m) => m.startsWith(label) && kind.test(m.split("|")[1])).length;
}`

// Values near the largest number are in their place, or at the edge of a plot that leaves them out; none is lost.
func TestValuesNearTheLargest(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	const largest = "1.7976931348623157e308"
	usual := []string{"0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1.0"}
	giving(t, dir, "one", append([]string{largest}, usual...)...)
	giving(t, dir, "both", append([]string{largest, "-" + largest}, usual...)...)
	giving(t, dir, "few", "1.7e308", "-1.7e308", "0", "1e308")
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch marks", chromedp.Evaluate(watchMarks, nil))
	drawn := func(label, kind string, n int) {
		t.Helper()
		p.await(fmt.Sprintf("count(%q, /^%s$/) === %d", label, kind, n))
	}
	for _, x := range []struct {
		name     string
		all, far int
	}{{"one", 12, 1}, {"both", 13, 2}, {"few", 4, 0}} {
		p.view("#/x/" + x.name + "/overview")
		for _, plot := range []struct {
			card, label string
			ends        int // of the line of the best so far, which has no mark within the plot
		}{{"#history", "Best a so far", 1}, {"#curves", "a of ", 0}} {
			p.await(fmt.Sprintf("count(%q, /arc/) > 0", plot.label))
			if x.far > 0 {
				drawn(plot.label, "arc", x.all-x.far)
				drawn(plot.label, "closed", 1+x.far+plot.ends) // the star of the best, and triangles
				p.press(plot.card, "all values")
			}
			drawn(plot.label, "arc", x.all)
			drawn(plot.label, "closed", 1)
			p.await(fmt.Sprintf("count(%q, /e.308$/) > 0", plot.label))
		}
		p.view("#/x/" + x.name + "/parameters")
		drawn("a by n", "rect", x.all-x.far)
		drawn("a by n", "closed", 1+x.far)
		p.view("#/x/" + x.name + "/parallel")
		p.await(`count("Parallel", /e.308$/) > 0`)
		drawn("Parallel", "none", 0)
	}
	p.clean()
}

// The numbers of the last axis of parallel coordinates are whole: a part of a number is another one.
func TestNumbersOfTheLastAxis(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	giving(t, dir, "wide", "1e307", "-1e307", "5e306", "0", "2.5e306")
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch marks", chromedp.Evaluate(watchMarks, nil))
	for _, axes := range []string{"n,a", "a", "a,n,a,n,a,n,a,n,a,n,a,n,a,n,a,n,a,n,a,n"} {
		p.view("#/x/wide/parallel?axes=" + axes)
		p.await(`count("Parallel", /^-1e.307$/) > 0`)
		p.await(`count("Parallel", /\d…|…\d/) === 0`)
	}
	p.clean()
}

// Where no trial has a value, parallel coordinates have no colours to explain or to choose.
func TestParallelWithoutValues(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	giving(t, dir, "nothing", "NaN", "NaN", "NaN")
	write(t, dir, "mute.yaml", "version: 1\nname: mute\nobjective: {metric: a, mode: max}\n"+
		"trainable: {command: [sleep, \"600\"]}\nspace: {n: {uniform: [0, 1]}, m: {uniform: [0, 1]}}\ntrials: 1\n")
	run := start(t, dir, "run", "mute.yaml")
	run.screen.Await(t, "running")
	ends(t, dir, "results/mute")
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/nothing/parallel")
	p.shows("#parallel", "No trial has a finite value of a")
	p.await(`!document.querySelector("#parallel").textContent.includes("Infinity")`)
	p.view("#/x/mute/parallel")
	p.shows("#parallel", "No trial has a finite value")
	p.await(`!document.querySelector("#parallel").textContent.includes("Infinity")`)
	p.await(`!document.querySelector("#parallel label.select select")`)
	p.clean()
}
