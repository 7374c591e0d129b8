package browser

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/tunehost/tunehost/internal/testplace"
)

// listed are the names in the list of experiments.
const listed = `[...document.querySelectorAll("#experiments td.name a")].map(a => a.textContent).join()`

// The list of experiments begins with those that run, then come the newest. Columns sort it; the address keeps the
// choice.
func TestOrderOfExperiments(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	for i, name := range []string{"m-first", "a-second", "k-third"} {
		write(t, dir, "x.yaml", fmt.Sprintf(`version: 1
name: %s
objective: {metric: a, mode: max}
trainable: {command: [sh, -c, 'echo "{\"a\": %d}"']}
space: {n: {uniform: [0, 1]}}
trials: %d
`, name, i, 3-i))
		if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.await(listed + ` === "k-third,a-second,m-first"`)
	write(t, dir, "x.yaml", `version: 1
name: z-running
objective: {metric: a, mode: max}
trainable: {plugin: chaos, options: {score_metric: a, iterations: 1000000, sleep: 0.1}}
space: {quality: {uniform: [0, 1]}}
trials: 1
`)
	start(t, dir, "run", "x.yaml")
	p.await(listed + ` === "z-running,k-third,a-second,m-first"`)
	p.shows("#how-many", "4, 1 running")
	p.press("#experiments thead", "name")
	p.await(listed + ` === "a-second,k-third,m-first,z-running" && location.hash.includes("sort=name")`)
	p.run("reload", chromedp.Reload())
	p.shows("#experiments [aria-sort=ascending]", "name ▲")
	p.await(listed + ` === "a-second,k-third,m-first,z-running"`)
	p.press("#experiments thead", "name")
	p.await(listed + ` === "z-running,m-first,k-third,a-second"`)
	p.press("#experiments thead", "name")
	p.await(listed + ` === "z-running,k-third,a-second,m-first" && !location.hash.includes("sort")`)
	p.press("#experiments thead", "trials")
	p.await(listed + ` === "m-first,a-second,k-third,z-running"`)
	p.view("#/?name=K-")
	p.await(listed + ` === "k-third"`)
	p.shows("#how-many", "1 of 4")
	p.fill("input[type=search]", "")
	p.await(listed + ` === "z-running,k-third,a-second,m-first" && !location.hash.includes("name")`)
	// on a phone, nothing of a row is beyond the edge
	p.run("narrow", chromedp.EmulateViewport(390, 844))
	p.await(`document.querySelector("#experiments").parentElement.scrollWidth <=
		document.querySelector("#experiments").parentElement.clientWidth`)
	p.await(`[...document.querySelectorAll("#experiments td")].every(td => td.getBoundingClientRect().right <= 390)`)
	p.await(`document.querySelector("label.narrow select").checkVisibility()`)
	p.clean()
}

// The best trial has a star in tables, and pages lead to it.
func TestBestIsMarked(t *testing.T) {
	p := window(t)
	dir := finished(t)
	best := answers[trial](t, dir, "best", "results/quickstart")[0].Number
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart/trials")
	p.await(fmt.Sprintf(`[...document.querySelectorAll(".rows .tr")].filter(r => r.querySelector(".star"))
		.map(r => r.querySelector("a").textContent).join() === "%d"`, best))
	leads := fmt.Sprintf(`document.querySelector(".starred a")?.hash === "#/x/quickstart/trials/%d"`, best)
	p.await(leads)
	for _, view := range []string{"overview", "parallel", "parameters", "pareto"} {
		p.view("#/x/quickstart/" + view)
		p.await(views[view] + " && " + leads)
	}
	p.view("#/x/quickstart/decisions")
	p.await(fmt.Sprintf(`[...document.querySelectorAll("#decisions tr")].filter(r => r.querySelector(".star"))
		.map(r => r.querySelector("a").textContent).join() === "%d"`, best))
	p.view(fmt.Sprintf("#/x/quickstart/trials/%d", best))
	p.shows("#is-best", "★ the best")
	several := mixed(t)
	next := start(t, several, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(next.url() + "#/x/mixed/trials")
	p.shows(".starred", "3 trials that no other beats")
	p.await(`document.querySelectorAll(".rows .star").length === 3`)
	p.clean()
}

// A reason that its column cannot show is whole when it has the focus, and on the page of its trial.
func TestReasonsAreWhole(t *testing.T) {
	p := window(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.run("focus as a window in front", emulation.SetFocusEmulationEnabled(true))
	p.open(server.url() + "#/x/quickstart/trials")
	p.wide(900)
	p.await(`document.querySelector(".why > .cut")`)
	const hidden = `(() => {
		const e = document.querySelector(".why > .cut");
		return !(e.querySelector(".whole") ?? e).checkVisibility() || e.scrollWidth > e.clientWidth + 1;
	})()`
	p.await(hidden)
	p.run("focus", chromedp.Evaluate(`document.querySelector(".why > .cut").focus()`, nil))
	p.await("!" + hidden)
	p.await(`(() => {
		const box = document.querySelector(".why > .cut").getBoundingClientRect();
		const at = document.elementFromPoint(box.right - 12, box.top + 8);
		return at?.closest(".cut") === document.querySelector(".why > .cut");
	})()`) // above its neighbours
	for _, x := range answers[trial](t, dir, "trials", "results/quickstart", "--limit", "3") {
		p.await(fmt.Sprintf(`[...document.querySelectorAll(".td.why")].some(td =>
			(td.querySelector(".whole") ?? td).textContent === %q)`,
			strings.Split(x.Reason, "\n")[0]))
		p.view(fmt.Sprintf("#/x/quickstart/trials/%d", x.Number))
		p.shows("#why", x.Reason)
		p.view("#/x/quickstart/trials")
	}
	p.clean()
}

// Numbers of a column have their decimal points below each other.
func TestDecimalsAreAligned(t *testing.T) {
	p := window(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart/trials")
	p.await(views["trials"])
	var faults []string
	p.run("measure", chromedp.Evaluate(`(() => {
		const heads = [...document.querySelectorAll(".grid .th > *")].map(h => h.title);
		const point = (cell) => {
			const text = cell.firstChild, i = text?.data?.search(/\.[0-9]+$/) ?? -1;
			if (i < 0) return undefined;
			const range = document.createRange();
			range.setStart(text, i);
			range.setEnd(text, i + 1);
			return range.getBoundingClientRect().left;
		};
		return ["accuracy", "loss", "lr"].flatMap((name) => {
			const points = [...document.querySelectorAll(".rows .tr")].map(r => point(r.children[heads.indexOf(name)]))
				.filter(x => x !== undefined);
			const spread = Math.max(...points) - Math.min(...points);
			const aligned = points.length >= 5 && spread <= 2;
			return aligned ? [] : [name + ": " + points.length + " points, " + spread + " apart"];
		});
	})()`, &faults))
	if len(faults) > 0 {
		t.Errorf("%q", faults)
	}
	p.clean()
}

// The page of a trial has the buttons of that trial alone, once. Buttons that can do nothing now say why.
func TestButtonsSayWhyNot(t *testing.T) {
	p := window(t)
	dir := mixed(t)
	write(t, dir, "slow.yaml", `version: 1
name: slow
objective: {metric: a, mode: max}
trainable: {plugin: chaos, options: {score_metric: a, iterations: 1000000, sleep: 0.1}}
space: {quality: {uniform: [0, 1]}}
trials: 1
`)
	start(t, dir, "run", "slow.yaml")
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.shows("#experiments", "slow")
	const texts = `[...document.querySelectorAll(".steer button")].map(b => b.textContent)`
	p.view("#/x/slow/trials/0")
	p.await(`document.querySelectorAll(".steer").length === 1 && ` + texts + `.some(t => t.includes("Stop trial 0"))`)
	p.await(`new Set(` + texts + `).size === ` + texts + `.length`)
	p.view("#/x/slow")
	p.await(texts + `.some(t => t.includes("Interrupt"))`)
	p.view("#/x/mixed")
	const why = `[...document.querySelectorAll("button")].find(b => b.textContent.includes(%q))?.ariaDescription`
	p.await(fmt.Sprintf(why+` === "all trials have ended: raise their number in Settings"`, "Resume"))
	p.await(fmt.Sprintf(why+` === "trials are added while the experiment runs"`, "Add a trial"))
	p.run("press", chromedp.Evaluate(
		`[...document.querySelectorAll(".steer button")].find(b => b.textContent.includes("Add a")).click()`, nil))
	p.await("!document.querySelector('dialog')")
	p.view("#/x/mixed/trials/3")
	p.await(fmt.Sprintf(why+`?.startsWith("no host runs the experiment")`, "Add with these"))
	p.shows("#rests", "to run the trial again resumes it")
	p.view("#/x/mixed/parallel")
	p.await(`document.querySelector("[aria-label='move n left']")?.ariaDescription === "it is the first axis"`)
	p.await(`document.querySelector("[aria-label='log axis of n']").ariaDisabled === "true"`) // n has 0
	p.view("#/x/mixed/journal")
	p.await(fmt.Sprintf(why+` === "these are the last events"`, "later"))
	p.view("#/x/slow")
	p.press(".steering", "Pause")
	p.await(pauses)
	p.shows("#state", "paused")
	p.view("#/x/slow/trials/0")
	p.await(fmt.Sprintf(why+` === "the experiment is paused: continue that first"`, "Continue"))
	p.clean()
}

// While no host runs the experiment, the page of a failed trial runs that trial again, and no other: the server begins
// a host for it.
func TestRetryBeginsAHost(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: twice
objective: {metric: a, mode: max}
trainable: {command: [sh, -c, 'echo "{\"a\": {n}}"; [ {n} = 0 ] || [ -e `+dir+`/mended ]']}
space: {n: {grid: [0, 1, 2, 3]}}
trials: 1
`)
	if _, failed := command(t, dir, "run", "x.yaml").Run().(*exec.ExitError); !failed {
		t.Fatal("no trial has failed")
	}
	write(t, dir, "mended", "")
	ends(t, dir, "results/twice")
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/twice")
	p.shows("#counts", "3 failed")
	p.view("#/x/twice/trials/1")
	p.shows("main .row", "failed")
	p.shows("#rests", "to run the trial again resumes it")
	p.press(".steer", "Retry")
	p.shows("main .row", "completed")
	p.shows("#rests", "no host runs the experiment") // it has ended again
	p.view("#/x/twice/trials/2")
	p.shows("main h1", "Trial 2") // the page of the other trial has the same buttons
	p.press(".steer", "Retry from the beginning")
	p.press("dialog", "Run again")
	p.shows("main .row", "completed")
	p.view("#/x/twice")
	p.shows("#state", "finished")
	p.shows("#counts", "3 terminated")
	p.shows("#counts", "1 failed")
	p.clean()
}

// The list says of an experiment whose record is being read that this is so, and shows it once it is read.
func TestListSaysWhatIsRead(t *testing.T) {
	p := window(t)
	server := start(t, mixed(t), "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.shows("#experiments", "mixed")
	p.run("hold up", chromedp.Evaluate(`{
		const ask = window.fetch;
		window.reads = true;
		window.fetch = async (path, init) => {
			if (!reads || !path.endsWith("/experiments")) return ask(path, init);
			const headers = { ...init.headers };
			delete headers["If-None-Match"];
			const body = await (await ask(path, { ...init, headers })).json();
			for (const x of body.experiments) Object.assign(x, { reading: true, state: "", trials: 0, best: null });
			return new Response(JSON.stringify(body));
		};
	}`, nil))
	const row = `document.querySelector("#experiments tbody tr").textContent`
	p.await(row + ` === "mixedreading its record…"`)
	p.run("go on", chromedp.Evaluate("void (reads = false)", nil))
	p.await(row + `.includes("4/4 trials")`)
	p.clean()
}

// A contour has colours near trials, and is hatched far from all of them.
func TestContourIsHatched(t *testing.T) {
	p := window(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch areas", chromedp.Evaluate(`{
		const drawing = CanvasRenderingContext2D.prototype, { clearRect, ellipse } = drawing;
		drawing.clearRect = function (...a) { this.canvas.areas = []; return clearRect.apply(this, a); };
		drawing.ellipse = function (x, y, rx, ry, ...a) {
			const at = this.getTransform().transformPoint({ x, y });
			this.canvas.areas.push({ x: at.x, y: at.y, rx, ry });
			return ellipse.call(this, x, y, rx, ry, ...a);
		};
	}`, nil))
	p.view("#/x/quickstart/parameters?a=lr&b=units")
	p.await(`document.querySelector("#contour canvas")?.areas?.length === 12`)
	p.shows("#hatched", "where it is hatched")
	var seen struct{ Near, Coloured, Far, Blank int }
	p.run("look", chromedp.Evaluate(`(() => {
		const canvas = document.querySelector("#contour canvas"), { areas, width } = canvas;
		const { data } = canvas.getContext("2d").getImageData(0, 0, width, canvas.height);
		const seen = { Near: 0, Coloured: 0, Far: 0, Blank: 0 };
		for (let y = 20; y < canvas.height - 50; y += 7) for (let x = 80; x < width - 20; x += 7) {
			const far = Math.min(...areas.map(a => Math.hypot((x - a.x) / a.rx, (y - a.y) / a.ry)));
			const opaque = data[4 * (y * width + x) + 3] === 255;
			if (far < 0.9) { seen.Near++; seen.Coloured += opaque; }
			if (far > 1.1) { seen.Far++; seen.Blank += !opaque; }
		}
		return seen;
	})()`, &seen))
	if seen.Near == 0 || seen.Far == 0 || seen.Coloured < seen.Near || seen.Blank < seen.Far*8/10 {
		t.Errorf("of %d places near a trial %d have a colour; of %d far from all, %d are blank", seen.Near,
			seen.Coloured, seen.Far, seen.Blank)
	}
	p.clean()
}

// Compared experiments have a plot for each objective, with the axis of that objective.
func TestComparedObjectives(t *testing.T) {
	p := window(t)
	dir := mixed(t)
	write(t, dir, "one.yaml", `version: 1
name: one
objective: {metric: a, mode: max}
trainable: {command: [sh, trial.sh, "{n}"]}
space: {n: {grid: [0, 1]}}
trials: 1
`)
	if out, err := command(t, dir, "run", "one.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch canvases", chromedp.Evaluate(watchDrawn, nil))
	p.view("#/compare?of=mixed,one")
	p.await(`[...document.querySelectorAll("#compared h2")].map(h => h.textContent).join()
		=== "Best a so far (max),Best z so far (min)"`)
	p.await(`[...document.querySelectorAll("#compared .names")].map(n => n.textContent.trim()).join("|")
		=== "mixed one|mixed"`)
	p.await(`drawn.includes("a") && drawn.includes("z")`)
	const row = `[...document.querySelectorAll("#sides tr")].find(r => r.cells[0].textContent === %q)`
	p.await(fmt.Sprintf(row+`?.textContent === "best a (max)2 by trial 21 by trial 1"`, "best a (max)"))
	p.await(fmt.Sprintf(row+`?.textContent === "best z (min)0 by trial 0–"`, "best z (min)"))
	p.clean()
}

// Values that differ by far have a logarithmic axis at first, and the title of the page says how far an experiment is.
func TestWideValues(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: wide
objective: {metric: v, mode: min}
trainable: {command: [sh, -c, 'echo "{\"v\": {v}}"; if [ {v} = 90.5 ]; then exec sleep 600; fi']}
space: {v: {grid: [0.01, 1.5, 90.5]}}
trials: 1
`)
	start(t, dir, "run", "x.yaml")
	testplace.Soon(t, "a status", func() bool { return command(t, dir, "status", "results/wide").Run() == nil })
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.shows("#experiments", "wide")
	p.run("watch canvases", chromedp.Evaluate(watchDrawn, nil))
	p.view("#/x/wide")
	p.shows("#progress", "2/3")
	p.await(`document.title === "▶ 2/3 · wide · overview · tunehost"`)
	const scale = `document.querySelector("#curves [aria-label='logarithmic axes'] [aria-pressed=true]")?.textContent`
	p.await(scale + ` === "log y"`)
	p.await(`drawn.includes("v (log)")`)
	p.press("#curves", "linear")
	p.await(scale + ` === "linear"`)
	p.clean()
}

// Curves of good trials lie on each other where bad ones make the axis long: the better half can be seen alone.
func TestBetterHalf(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: half
objective: {metric: v, mode: max}
trainable: {command: [sh, -c, 'echo "{\"v\": {v}, \"w\": 1}"']}
space: {v: {grid: [1, 30, 60, 91, 92, 93]}}
trials: 1
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.shows("#experiments", "half")
	p.run("watch canvases", chromedp.Evaluate(watchDrawn, nil))
	p.view("#/x/half")
	p.await(`drawn.includes("20") && !drawn.includes("92")`)
	p.run("forget", chromedp.Evaluate("void (drawn.length = 0)", nil))
	p.press("#curves", "better half")
	p.await(`drawn.includes("92")`)
	p.run("another metric", chromedp.Evaluate(`{
		const field = document.querySelector("#curves select");
		field.value = "w";
		field.dispatchEvent(new Event("change", {bubbles: true}));
	}`, nil))
	p.await(`document.querySelector("#curves [aria-label=values] [aria-pressed=true]")?.textContent === "all values"`)
	p.await(`[...document.querySelectorAll("#curves button")]
		.find(b => b.textContent === "better half")?.ariaDisabled === "true"`)
	p.clean()
}
