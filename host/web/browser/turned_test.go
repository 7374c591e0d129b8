package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// turned looks for control characters and those that change the direction of text in everything that a page shows or
// has read aloud.
const turned = `(() => {
	const found = [];
	const turns = /[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;
	if (turns.test(document.title)) found.push("the title of the page");
	if (turns.test(document.body.innerText)) found.push("the text");
	for (const e of document.querySelectorAll("body *"))
		for (const name of ["title", "aria-label"])
			if (turns.test(e.getAttribute(name))) found.push(e.outerHTML.slice(0, 200));
	return found.concat(drawn.filter((text) => turns.test(text)));
})()`

// watchDrawn keeps the texts that canvases write.
const watchDrawn = `{
	window.drawn = [];
	const write = CanvasRenderingContext2D.prototype.fillText;
	CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
		drawn.push(text);
		return write.call(this, text, ...at);
	};
}`

// Names, values and logs cannot change the direction of a page's text: such characters are shown as escapes.
func TestDirectionOfText(t *testing.T) {
	p := window(t)
	dir := turning(t)
	results := filepath.Join(dir, "results")
	if err := os.Rename(filepath.Join(results, "colours"), filepath.Join(results, "a\x1b[31mb")); err != nil {
		t.Fatal(err)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.shows("#experiments", "turning")
	p.shows("#experiments", `a\u001b[31mb`)
	p.run("watch canvases", chromedp.Evaluate(watchDrawn, nil))
	p.straight("experiments")
	for view := range views {
		p.view("#/x/turning/" + view)
		p.await("document.querySelector('main h1') && !document.querySelector('main .waiting')")
		p.straight(view)
	}
	p.view("#/x/turning/parameters")
	p.await(`drawn.some((text) => text.includes("\\u202e"))`)
	p.straight("drawn parameters")
	p.view("#/x/turning/trials/0")
	p.shows("#parameters", `ab\u202ecd`)
	p.shows("#parameters", `left\u2066right\u2069`)
	p.press("#output", "stderr")
	p.shows("#output pre", `said \u2067backwards`)
	p.straight("output")
	p.clean()
}

// straight fails if a page shows a character that changes the direction of text.
func (p *page) straight(view string) {
	p.t.Helper()
	var found []string
	p.run("texts of "+view, chromedp.Evaluate(turned, &found))
	if len(found) > 0 {
		p.t.Errorf("%s has characters that do not show as themselves: %q", view, found)
	}
}

// turning runs an experiment with characters that change the direction of text in names, values and outputs.
func turning(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "trial.sh", "echo '{\"m\": 0.5}'; echo 'said \u2067backwards' >&2\n")
	write(t, dir, "x.yaml", `version: 1
name: turning
objective: {metric: m, mode: max}
trainable: {command: [sh, trial.sh]}
space:
  "ab\u202ecd": {choice: ["left\u2066right\u2069"]}
  y: {uniform: [0, 1]}
trials: 3
`)
	for _, name := range []string{"turning", "colours"} {
		if out, err := command(t, dir, "run", "x.yaml", "--name", name).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}
