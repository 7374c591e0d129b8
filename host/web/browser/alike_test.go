package browser

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// keepTexts keeps what canvases write.
const keepTexts = `{
	window.texts = new Set();
	const drawing = CanvasRenderingContext2D.prototype, { fillText } = drawing;
	drawing.fillText = function (text, ...at) {
		texts.add(text);
		return fillText.call(this, text, ...at);
	};
}`

// lookAlikes records an experiment with choices and names that look alike.
func lookAlikes(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	w := viewtest.New(filepath.Join(dir, "results", "alike"), []byte(`version: 1
name: alike
objective: {metric: accuracy, mode: max}
space:
  cfg: {choice: [{"a": 1, "b": [1, 2]}, {"a": 2}, null, "None", 1, "1"]}
  group0: {a_rather_long_name_0: {uniform: [0, 1]}, a_rather_long_name_1: {uniform: [0, 1]}}
  group1: {a_rather_long_name_0: {uniform: [0, 1]}, a_rather_long_name_1: {uniform: [0, 1]}}
  group2: {a_rather_long_name_0: {uniform: [0, 1]}, a_rather_long_name_1: {uniform: [0, 1]}}
  group3: {a_rather_long_name_0: {uniform: [0, 1]}, a_rather_long_name_1: {uniform: [0, 1]}}
  group4: {a_rather_long_name_0: {uniform: [0, 1]}, a_rather_long_name_1: {uniform: [0, 1]}}
trials: 24
trainable: {command: [train]}
`), 1)
	w.Iterations = 1
	w.Start(2)
	w.Run(-1)
	w.Close()
	return dir
}

// Choices that look alike, such as 1 and "1", are told apart, and one that is a map is not another parameter.
func TestChoicesThatLookAlike(t *testing.T) {
	p := window(t)
	dir := lookAlikes(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch texts", chromedp.Evaluate(keepTexts, nil))
	for _, view := range []string{"parallel", "parameters"} {
		p.run("begin", chromedp.Evaluate("texts.clear()", nil))
		p.view("#/x/alike/" + view)
		p.await("[`1`, `\"1\"`, `null`, `None`, `{\"a\":2}`].every((x) => texts.has(x))")
	}
	p.view("#/x/alike/parallel")
	p.await(`(() => {
		const words = [...document.querySelectorAll("[aria-label='cfg is'] option")].map((o) => o.textContent);
		return words.length === 7 && new Set(words).size === 7;
	})()`)
	for _, no := range []string{"0", "1", "2", "3"} {
		p.view("#/x/alike/trials/" + no)
		p.await(`[...document.querySelectorAll("#parameters th[scope=row]")].map((h) => h.textContent)
			.filter((name) => !name.startsWith("group")).join() === "cfg"`)
	}
	p.view("#/compare?of=alike,alike")
	p.await(`[...document.querySelectorAll("#sides tbody th[scope=row]")].map((h) => h.textContent)
		.filter((name) => name.startsWith("cfg")).join() === "cfg"`)
	p.clean()
}

// Long names of axes are shortened such that they are told apart.
func TestLongNamesThatLookAlike(t *testing.T) {
	p := window(t)
	dir := lookAlikes(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch texts", chromedp.Evaluate(keepTexts, nil))
	for _, pixels := range []int64{1280, 640} {
		p.run("width", chromedp.EmulateViewport(pixels, 900))
		p.view("#/x/alike/overview")
		p.run("begin", chromedp.Evaluate("texts.clear()", nil))
		p.view("#/x/alike/parallel")
		p.await("[...texts].filter((x) => /_[01]$|…[01]$/.test(x)).length === 10")
	}
	p.clean()
}

// Numbers of axes are written so that they fit: 28000, and not a part of 2.8e+04.
func TestNumbersOfAxesAreWhole(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	w := viewtest.New(filepath.Join(dir, "results", "sizes"), []byte(`version: 1
name: sizes
objective: {metric: size, mode: min}
space: {width: {int: [20000, 90000]}, lr: {loguniform: [1e-4, 1]}}
trials: 12
trainable: {command: [train]}
`), 1)
	w.Iterations, w.Names = 1, []string{"size"}
	w.Metrics = func(no core.TrialNo, _ uint64) []float64 { return []float64{27000 + 1500*float64(no)} }
	w.Start(2)
	w.Run(-1)
	w.Close()
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.run("watch texts", chromedp.Evaluate(keepTexts, nil))
	for _, view := range []string{"parallel", "parameters"} {
		p.run("begin", chromedp.Evaluate("texts.clear()", nil))
		p.view("#/x/sizes/" + view)
		p.await("[...texts].some((x) => /^[2-4][0-9]000$/.test(x)) && " +
			"![...texts].some((x) => /e\\+|[0-9]…|…[0-9]/.test(x))")
	}
	p.clean()
}

// Tables tell choices that look alike apart as the list of trials does: the front, and experiments side by side.
func TestTablesTellChoicesApart(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	for name, objectives := range map[string]string{"front": "[{metric: a, mode: max}, {metric: b, mode: min}]",
		"one": "[{metric: a, mode: max}]"} {
		write(t, dir, name+".yaml", `version: 1
objectives: `+objectives+`
trainable: {command: [sh, -c, 'echo "{\"a\": {x}, \"b\": {x}}"']}
space: {s: {choice: [1, "1"]}, blank: {choice: [" ", "\n", ""]}, x: {uniform: [0, 1]}}
points: [{s: "1", x: 0.5, blank: " "}, {s: 1, x: 0.25, blank: "\n"}]
trials: 2
`)
		if out, err := command(t, dir, "run", name+".yaml").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/front/pareto")
	for _, view := range []string{"#/x/front/pareto", "#/x/front/overview"} {
		p.view(view)
		p.await(`(() => {
			const texts = [...document.querySelectorAll("table.figures tbody td:last-child")]
				.map((d) => d.textContent);
			return texts.length === 2 &&
				texts.some((x) => /s="1"( |$)/.test(x)) && texts.some((x) => /s=1( |$)/.test(x)) &&
				texts.some((x) => x.includes('blank=" "')) && texts.some((x) => x.includes('blank="\\n"'));
		})()`)
	}
	p.view("#/compare?of=one,one")
	p.await(`[...document.querySelectorAll("#sides tbody tr")].some((r) => r.cells[0].textContent === "s" &&
		r.cells[1].textContent === '"1"')`)
	p.run("watch texts", chromedp.Evaluate(keepTexts, nil))
	p.view("#/x/front/parallel")
	p.await("['\" \"', '\"\\\\n\"', '\"\"'].every((x) => texts.has(x))")
	p.await(`[...document.querySelectorAll("[aria-label='blank is'] option")]
		.some((o) => o.textContent === '" "')`)
	p.clean()
}
