package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// held has the requests that change something wait until the page's `go` is called.
const held = `{
	const { fetch } = window, wait = new Promise((go) => { window.go = go; });
	window.fetch = async (path, init) => { if (init?.method === "POST") await wait; return fetch(path, init); };
}`

// What is refused because its trial has changed in the meantime says so, also when the page knows of the change
// before; an open question stays while it can be answered, and says why it cannot be any more.
func TestOvertakenActionsSaySo(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: overtaken
objective: {metric: a, mode: max}
trainable: {plugin: chaos, options: {score_metric: a, iterations: 1000000, sleep: 0.1}}
space: {quality: {uniform: [0, 1]}}
trials: 4
concurrency: 1
`)
	run := start(t, dir, "run", "x.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/overtaken/trials/0")
	steer := func(args ...string) {
		t.Helper()
		if out, err := command(t, dir, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", args, err, out)
		}
	}
	p.shows("main .state", "running")
	steer("pause", "results/overtaken", "0", "--force")
	p.press(".steer", "Continue")
	p.shows("main .state", "pending")
	p.press(".steer", "Stop trial 0")
	p.shows("dialog", "The trial ends with its last result")
	steer("stop", "results/overtaken", "1")
	p.shows("main .state", "running")
	p.shows("dialog", "The trial ends with its last result")
	steer("stop", "results/overtaken", "0")
	p.shows(".steering .failure", "trial 0 has ended (stopped early): it was not stopped")
	p.await(`!document.querySelector("dialog")`)

	p.view("#/x/overtaken/trials/2")
	p.shows("main h1", "Trial 2")
	p.await(`!document.querySelector(".steering .failure")`)
	p.shows("main .state", "running")
	p.run("hold", chromedp.Evaluate(held, nil))
	p.press(".steer", "Pause")
	steer("stop", "results/overtaken", "2")
	p.shows("main .state", "stopped early")
	p.run("go", chromedp.Evaluate(`void window.go()`, nil))
	p.shows(".steering .failure", "trial 2")
	p.clean()
}
