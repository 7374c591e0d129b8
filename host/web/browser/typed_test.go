package browser

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// typedSpace is an experiment to which trials are added while it runs.
const typedSpace = `version: 1
name: typed
objective: {metric: a, mode: max}
trainable: {command: [sleep, "600"]}
space:
  quality: {uniform: [0, 1]}
  lr: {loguniform: [1e-5, 1]}
  n: {int: [1, 9]}
  k: {choice: [1, "1", true]}
trials: 1
concurrency: 1
`

// What is typed key by key is what the form of a trial sends, whatever the text is on its way: "0." and "1e-" are no
// JSON.
func TestTrialsAreAddedAsTyped(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", typedSpace)
	run := start(t, dir, "run", "x.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/typed/overview")
	for i, x := range []struct {
		quality, lr, n string
		want           map[string]any
	}{
		{"0.125", "1e-3", "4", map[string]any{"quality": 0.125, "lr": 0.001, "n": 4.0, "k": "1"}},
		{".5", "-1\b\b.25e-0", "", map[string]any{"quality": 0.5, "lr": 0.25, "k": "1"}},
		{"7\b0.75", "0.5", "-\b3", map[string]any{"quality": 0.75, "lr": 0.5, "n": 3.0, "k": "1"}},
	} {
		p.press(".steering", "Add a trial")
		p.types("quality", x.quality)
		p.types("lr", x.lr)
		p.types("n", x.n)
		p.chooses("k", `"1"`)
		p.press("dialog", "Add")
		p.shows(".steering .said", fmt.Sprintf("added trial %d", i+1))
		p.await("!document.querySelector('dialog')")
		p.hasParams(dir, i+1, x.want)
	}
	p.clean()
}

// Of two choices that are equal, 1 and 1.0, a trial has the one that was chosen, as the form and the file tell them.
func TestEqualChoices(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: typed
objective: {metric: a, mode: max}
trainable: {command: [sleep, "600"]}
space: {k: {choice: [1, 1.0]}}
points: [{k: 1.0}]
trials: 1
concurrency: 1
`)
	run := start(t, dir, "run", "x.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/typed/overview")
	for i, choice := range []string{"1", "1.0"} {
		p.press(".steering", "Add a trial")
		p.await(`[...document.querySelectorAll("dialog option")].map((o) => o.textContent).join() ===
			"(sampled),1,1.0"`)
		p.chooses("k", choice)
		p.press("dialog", "Add")
		p.shows(".steering .said", fmt.Sprintf("added trial %d", i+1))
		p.await("!document.querySelector('dialog')")
	}
	list := answers[struct{ Params json.RawMessage }](t, dir, "trials", "results/typed")
	for i, want := range []string{`{"k":1.0}`, `{"k":1}`, `{"k":1.0}`} {
		if got := string(list[i].Params); got != want {
			t.Errorf("trial %d has %s, want %s", i, got, want)
		}
	}
	p.clean()
}

// A clone has the values that its form shows: fields that are left as they are, and those that are typed anew.
func TestTrialsAreClonedAsTyped(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: typed
objective: {metric: a, mode: max}
trainable: {plugin: chaos, options: {score_metric: a, iterations: 1000000, sleep: 0.1}}
checkpoint: {every: 1}
space: {quality: {uniform: [0, 1]}, noise: {uniform: [0, 1]}}
trials: 1
concurrency: 1
`)
	run := start(t, dir, "run", "x.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/typed/trials/0")
	p.shows("#facts", "checkpoints")
	p.press(".steer", "Clone")
	p.await("document.querySelector('dialog [name=\"params/quality\"]')")
	p.does("document.querySelector('dialog [name=\"params/quality\"]').select()")
	p.types("quality", "0.375")
	p.press("dialog", "Clone")
	p.shows(".steering .said", "added trial 1")
	want := answers[map[string]any](t, dir, "trials", "results/typed")[0]["params"].(map[string]any)
	want["quality"] = 0.375
	p.hasParams(dir, 1, want)
	p.clean()
}

// Forms that are filled in by a program, all fields at once, and sent in the same moment send what they show.
func TestFormsThatAreFilledAtOnce(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", typedSpace)
	run := start(t, dir, "run", "x.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/typed/overview")
	const fill = `for (const [name, text] of Object.entries(%s)) {
		const field = document.querySelector("dialog [name='" + name + "']");
		field.value = text;
		field.dispatchEvent(new Event(field.localName === "select" ? "change" : "input", {bubbles: true}));
	}
	document.querySelector("dialog .main").click();`
	p.press(".steering", "Add a trial")
	p.await("document.querySelector('dialog .main')")
	p.run("add", chromedp.Evaluate(fmt.Sprintf(fill,
		`{"params/quality": "0.5", "params/lr": "0.25", "params/k": '"1"'}`), nil))
	p.shows(".steering .said", "added trial 1")
	p.hasParams(dir, 1, map[string]any{"quality": 0.5, "lr": 0.25, "k": "1"})
	p.press(".steering", "Settings")
	p.await("document.querySelector('dialog .main')")
	p.run("set", chromedp.Evaluate(fmt.Sprintf(fill,
		`{trials: "7", concurrency: "2", others: "stop.iteration=12345678"}`), nil))
	p.await("!document.querySelector('dialog')")
	p.await("document.querySelector('#progress')?.textContent.endsWith('/8')") // seven, and the added one
	p.press(".steering", "Settings")
	p.await("document.querySelector('dialog [name=trials]')?.value === '7' && " +
		"document.querySelector('dialog [name=concurrency]').value === '2'")
	p.clean()
}

// types types into the field of a parameter, a key at a time.
func (p *page) types(param, text string) {
	p.t.Helper()
	field := fmt.Sprintf("dialog [name='params/%s']", param)
	p.await(fmt.Sprintf("document.querySelector(%q)", field))
	p.run("type "+text, chromedp.Focus(field, chromedp.ByQuery), chromedp.KeyEvent(text))
}

// chooses chooses a choice of a parameter by its JSON.
func (p *page) chooses(param, choice string) {
	p.t.Helper()
	field := fmt.Sprintf("dialog [name='params/%s']", param)
	p.run("choose "+choice, chromedp.SetValue(field, choice, chromedp.ByQuery),
		chromedp.Evaluate(fmt.Sprintf(`document.querySelector("dialog [name='params/%s']")
			.dispatchEvent(new Event("change", {bubbles: true}))`, param), nil))
}

// hasParams compares parameters of a trial with what the command line says.
func (p *page) hasParams(dir string, trial int, want map[string]any) {
	p.t.Helper()
	got := answers[map[string]any](p.t, dir, "trials", "results/typed")[trial]["params"].(map[string]any)
	for name, v := range want {
		if got[name] != v {
			p.t.Errorf("trial %d has %s %#v, want %#v", trial, name, got[name], v)
		}
	}
}
