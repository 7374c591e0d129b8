package browser

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// Parameters in a group are like others in lists, plots and details.
func TestGroupsOfParameters(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: groups
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 1, any_params: true}}
searcher: random
seed: 1
space:
  quality: {uniform: [0, 1]}
  optimizer:
    name: {choice: [sgd, adam]}
    decay: {uniform: [0.25, 0.75]}
trials: 12
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url()) // of the only experiment
	p.await(`location.hash === "#/x/groups"`)
	p.view("#/")
	p.shows("#experiments", "groups")
	p.run("watch stars", chromedp.Evaluate(watchStars, nil))
	p.view("#/x/groups/trials?sort=optimizer/decay")
	p.await(`[...document.querySelectorAll("main [role=row]")].filter((r) =>
		/(sgd|adam).*0[.][2-7]/.test(r.textContent)).length === 12`)
	p.view("#/x/groups/parameters")
	p.await(`["optimizer/name", "optimizer/decay"].every((x) =>
		stars.some((s) => s.label.startsWith("score by " + x)))`)
	p.view("#/x/groups/overview")
	p.press("#best", "command line")
	p.await(`/--optimizer[.]decay=0[.]\d+/.test(document.querySelector("#best").textContent)`)
	p.view("#/x/groups/trials/0")
	p.shows("#parameters", "optimizer/name")
	p.await(`/optimizer.decay0[.]/.test(document.querySelector("#parameters tbody").textContent)`)
	p.clean()
}

// A trial whose parameter has the choice null is in the plots; one that does not have a parameter is not.
func TestChoiceNull(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: nulls
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 1, any_params: true}}
space:
  depth: {grid: [1, null]}
  width: {int: [1, 9], when: depth == 1}
trials: 3
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url())
	p.await(`location.hash === "#/x/nulls"`)
	p.view("#/x/nulls/parameters")
	p.await(`document.querySelector("[aria-label='score by depth, 6 trials']") &&
		document.querySelector("[aria-label='score by width, 3 trials']")`)
	p.clean()
}

// The command line of the best trial is the one that its program got: groups, and choices that are maps, as their
// members.
func TestCommandLineOfTheBest(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.sh", `for i in "$@"; do printf '%s\n' "$i"; done > "$TUNEHOST_TRIAL_DIR/got"; echo '{"score": 1}'`)
	write(t, dir, "x.yaml", `version: 1
name: flags
objective: {metric: score, mode: max}
trainable: {command: [sh, x.sh, "{flags}"]}
space:
  z: {choice: ["it's", "isn't"]}
  model:
    act: {choice: [{kind: "re lu", slope: [0.1, {a: null}]}, {kind: "le ru", slope: [0.2, {b: null}]}]}
    none: {grid: [{}]}
  a: {uniform: [0.1, 0.2]}
  big: {choice: [9007199254740993, 9007199254740995]}
trials: 1
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url())
	p.press("#best", "command line")
	p.await(`document.querySelector("#best pre").textContent.startsWith("--")`)
	got, err := filepath.Glob(filepath.Join(dir, "results/flags/trials/*/got"))
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	want, err := os.ReadFile(got[0])
	shown := exec.Command("sh", "-c", `for i in `+p.text("#best pre")+`; do printf '%s\n' "$i"; done`)
	if out, wrong := shown.Output(); err != nil || wrong != nil || !bytes.Equal(out, want) {
		t.Errorf("the page shows %s, the program got %s; %v, %v", out, want, err, wrong)
	}
	p.clean()
}

// What the page offers to copy has reals as reals, in groups and lists, too, and no character that nobody sees.
func TestFormsOfTheBest(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: forms
objective: {metric: score, mode: max}
trainable: {command: [sh, -c, 'echo "{\"score\": 1}"']}
space:
  f: {choice: [1.0, 2.0]}
  g: {n: {choice: [1]}, r: {choice: [-3.0]}}
  list: {choice: [[1, 2.0, true, null]]}
  model: {choice: [tree, "ü\u2028x"]}
  tag: {choice: ["a\U000E0041: 1e5, true"]}
  tiny: {choice: [1.0e-7]}
points: [{f: 1.0, model: "ü\u2028x"}]
trials: 1
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/forms")
	for _, x := range []struct{ form, want string }{
		{"JSON", `{
  "f": 1.0,
  "g": {
    "n": 1,
    "r": -3.0
  },
  "list": [
    1,
    2.0,
    true,
    null
  ],
  "model": "ü\u2028x",
  "tag": "a\udb40\udc41: 1e5, true",
  "tiny": 1e-7
}`},
		{"YAML", `f: 1.0
g: {"n":1,"r":-3.0}
list: [1,2.0,true,null]
model: "ü\u2028x"
tag: "a\U000e0041: 1e5, true"
tiny: 1.0e-7`},
		{"Python", `{"f": 1.0, "g": {"n": 1, "r": -3.0}, "list": [1, 2.0, True, None], "model": "ü\u2028x", ` +
			`"tag": "a\U000e0041: 1e5, true", "tiny": 1e-7}`},
		{"command line", `--f=1.0 --g.n=1 --g.r=-3.0 '--list=[1,2.0,true,null]' $'--model=ü\342\200\250x' ` +
			`$'--tag=a\363\240\201\201: 1e5, true' --tiny=1e-7`},
	} {
		p.press("#best", x.form)
		if got := p.text("#best pre"); got != x.want {
			t.Errorf("%s: %s\nwant %s", x.form, got, x.want)
		}
	}
	p.view("#/x/forms/trials")
	p.shows("main [role=row] + [role=row], .rows .tr", `"ü\u2028x"`)
	p.view("#/x/forms/trials/0")
	p.await(`/^f1[.]0$/m.test([...document.querySelectorAll("#parameters tr")].map((r) => r.textContent).join("\n"))`)
	p.shows("#parameters", `"ü\u2028x"`)
	p.clean()
}
