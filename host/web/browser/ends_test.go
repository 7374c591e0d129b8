package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/tunehost/tunehost/internal/testplace"
)

// watchEnds counts the marks that canvases have for the ends of trials: "● ○ ✕", the last in the colour of failures.
const watchEnds = `{
	window.ends = {};
	const pen = document.createElement("canvas").getContext("2d");
	pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--bad");
	const bad = pen.fillStyle;
	const drawing = CanvasRenderingContext2D.prototype, { beginPath, arc, fill, stroke, clearRect } = drawing;
	let round = false;
	const note = (canvas, mark) => { (ends[canvas.ariaLabel] ??= []).push(mark); };
	drawing.clearRect = function (...a) { ends[this.canvas.ariaLabel] = []; return clearRect.apply(this, a); };
	drawing.beginPath = function () { round = false; return beginPath.call(this); };
	drawing.arc = function (...a) { round = true; return arc.apply(this, a); };
	drawing.fill = function (...a) { if (round) note(this.canvas, "●"); return fill.apply(this, a); };
	drawing.stroke = function (...a) {
		if (round) note(this.canvas, "○");
		else if (this.strokeStyle === bad) note(this.canvas, "✕");
		return stroke.apply(this, a);
	};
	window.endsOf = (label) => Object.entries(ends).find(([of]) => of.startsWith(label))?.[1].sort().join("");
}`

// Plots do not show a trial that has failed, or whose host has died, as one that has ended by itself.
func TestEndsOfTrials(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.sh", `echo '{"a": 1}'; echo '{"a": 2}'; case $1 in 1) exit 3;; 2) exec sleep 1000;; esac`)
	write(t, dir, "x.yaml", `version: 1
name: ends
objective: {metric: a, mode: max}
trainable: {command: [sh, x.sh, "{n}"]}
space: {n: {grid: [0, 1, 2]}}
trials: 1
`)
	run := start(t, dir, "run", "x.yaml", "--resources", "cpu=3")
	testplace.Soon(t, "two ends and two results", func() bool {
		out, err := command(t, dir, "trials", "results/ends", "--json", "--where", "iteration == 2").Output()
		return err == nil && strings.Count(string(out), "\n") == 3 && strings.Count(string(out), `"RUNNING"`) == 1
	})
	run.kill()
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.shows("#experiments", "ends")
	p.run("watch ends", chromedp.Evaluate(watchEnds, nil))
	p.view("#/x/ends")
	p.shows("#history", "✕ has failed after this value; ○ has not ended")
	p.shows("#curves", "✕ failed · ● finished · ○ not ended")
	p.await("endsOf('Best a so far') === '○●✕' && endsOf('a of 3 trials') === '○●✕'")
	p.clean()
}
