package browser

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// strange is an experiment whose parameters have names that objects of JavaScript have, and one that acts in a shell.
// Some of its trials end with NaN.
const strange = `version: 1
name: strange
objective: {metric: a, mode: max}
trainable:
  command: [sh, -c, 'echo "{\"a\": $(echo $1 | sed s/3/NaN/), \"b\": NaN}"', sh, "{constructor}"]
space:
  constructor: {grid: [1, 2, 3]}
  toString: {uniform: [0, 1]}
  __proto__: {uniform: [0, 1]}
  "<img src=x>": 1
  wide: {loguniform: [1e-300, 1e300]}
trials: 1
`

// Pages have whatever users name.
func TestStrangeNames(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", strange)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/strange")
	p.shows("#not-finite", "1 of 3 trials ended with a value of a that is NaN or infinite: none of them can be best")
	p.press("#best", "command line")
	p.shows("#best pre", "--__proto__=")
	p.shows("#best pre", "'--<img src=x>=1'")
	p.view("#/x/strange/parallel")
	p.shows("#parallel .axes", "__proto__")
	p.await("document.querySelector('#parallel canvas')?.dataset.drawn > 0")
	p.view("#/x/strange/trials/0")
	p.shows("main", "__proto__")
	p.view("#/x/strange/parameters?metric=b")
	p.shows("#contour .undrawn", "No trial with both parameters has a finite value of b")
	p.shows(".slices .undrawn", "No value of b is finite: there is nothing to draw.")
	p.view("#/x/strange/parameters")
	p.await("document.querySelectorAll('.slices canvas').length > 3")
	p.view("#/x/strange/overview")
	p.press(".steering", "Settings")
	p.fill("dialog input[name=trials]", "")
	p.press("dialog", "Change")
	p.shows("dialog .failure", "trials: give a number")
	p.clean()
}

// Parameters may have the names of what the browser, and Preact, ask of a form: its fields do not hide that.
func TestParametersNamedAsForms(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: forms
objective: {metric: a, mode: max}
trainable: {command: [sleep, "600"]}
space:
  action: {uniform: [0, 1]}
  name: {choice: [a, b]}
  method: {uniform: [0, 1]}
  elements: {uniform: [0, 1]}
  submit: {uniform: [0, 1]}
  length: {uniform: [0, 1]}
  childNodes: {uniform: [0, 1]}
  firstChild: {uniform: [0, 1]}
  parentNode: {uniform: [0, 1]}
  ownerDocument: {uniform: [0, 1]}
  addEventListener: {uniform: [0, 1]}
  querySelector: {uniform: [0, 1]}
  l: {uniform: [0, 1]}
trials: 1
concurrency: 2
`)
	run := start(t, dir, "run", "x.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/forms")
	p.press(".steering", "Add a trial")
	p.fill("dialog input[name='params/action']", "0.25")
	p.fill("dialog input[name='params/length']", "0.5")
	p.fill("dialog input[name='params/firstChild']", "0.75")
	p.press("dialog", "Add")
	p.shows(".steering .said", "added trial 1")
	p.await("!document.querySelector('dialog')")
	added := answers[map[string]any](t, dir, "trials", "results/forms")[1]["params"].(map[string]any)
	for name, want := range map[string]float64{"action": 0.25, "length": 0.5, "firstChild": 0.75} {
		if added[name] != want {
			t.Errorf("%s is %v, want %v", name, added[name], want)
		}
	}
	p.clean()
}

// comma is an experiment whose parameter has a name with a comma.
const comma = `version: 1
name: n%d
objective: {metric: a, mode: max}
trainable: {command: [sh, -c, 'echo "{\"a\": 1}"']}
space: {"x,y": {uniform: [0, 1]}}
`

// Experiments are compared whatever their names are: names may have commas, and directories are renamed.
func TestComparedNames(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	names := []string{"c,a, b", "x+y", "50% a&b #ü?"}
	for i, name := range names {
		write(t, dir, "x.yaml", fmt.Sprintf(comma, i))
		if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		results := filepath.Join(dir, "results")
		if err := os.Rename(filepath.Join(results, fmt.Sprint("n", i)), filepath.Join(results, name)); err != nil {
			t.Fatal(err)
		}
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.await("document.querySelectorAll('#experiments tbody input').length === 3")
	for i := range names {
		p.does(fmt.Sprintf("document.querySelectorAll('#experiments tbody input')[%d].click()", i))
		p.await(fmt.Sprintf("document.querySelectorAll('#experiments tbody input')[%d].checked", i))
	}
	p.await("document.querySelector('a.button')?.textContent === 'compare 3'")
	p.does("document.querySelector('a.button').click()")
	for i := range names {
		p.await("document.querySelectorAll('#sides thead a').length === 3")
		p.does(fmt.Sprintf("document.querySelectorAll('#sides thead a')[%d].click()", i))
		p.shows("#best", "x,y")
		p.does("history.back()")
	}
	p.view("#/x/" + url.PathEscape(names[2]) + "/trials?columns=100%,x%252Cy")
	p.shows("#columns summary", "columns: 1 of")
	p.clean()
}

// does evaluates an expression, whatever its value is.
func (p *page) does(expression string) {
	p.t.Helper()
	p.run(expression, chromedp.Evaluate("void ("+expression+")", nil))
}
