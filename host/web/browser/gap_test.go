package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// While a browser has no connection its page says that it is old and since when; afterwards it goes on by itself.
func TestGap(t *testing.T) {
	p := window(t)
	dir := quickstart(t)
	run := start(t, dir, "run", "experiment.yaml", "--set", "trials=100000", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/quickstart")
	p.shows("#state", "running")
	offline := func(yes bool) {
		p.run(fmt.Sprint("offline: ", yes), network.EmulateNetworkConditions(yes, 0, -1, -1))
	}
	offline(true)
	p.await(`/^⚠ This page is not up to date since \d\d:\d\d: the server cannot be reached\./.test(
		document.querySelector(".lost")?.textContent)`)
	p.shows("#state", "last seen running at")
	before := ended(p)
	offline(false)
	p.await("!document.querySelector('.lost')")
	p.await("document.querySelector('#state').textContent.includes('▶ running')")
	p.await(fmt.Sprintf(progress+" > %d", before))
	p.clean()
}

// A host that serves its own experiment is killed and resumed at the same address below an open page: the page says
// what to open, and shows the experiment again when that is opened.
func TestHostResumedBelowAPage(t *testing.T) {
	p := window(t)
	dir := quickstart(t)
	args := []string{"run", "experiment.yaml", "--set", "trials=100000"}
	run := start(t, dir, append(args, "--serve=127.0.0.1:0")...)
	p.open(run.url() + "#/x/quickstart")
	p.shows("#state", "running")
	p.await(progress + " > 5")
	run.kill()
	p.shows(".lost", "The run or its server has ended, or this browser has no connection to it.")
	before := ended(p)
	address := strings.TrimPrefix(strings.Split(run.url(), "/?")[0], "http://")
	next := start(t, dir, append(args, "--serve="+address)...)
	next.url()
	p.shows(".lost", "the server was started again, or has new tokens. Open the URL that it has printed")
	p.run("count requests", chromedp.Evaluate(`window.asked = 0; window.since = performance.now();
		window.ask = window.fetch; window.fetch = (...of) => { asked++; return ask(...of); }; 0`, nil))
	p.await("performance.now() > since + 4000") // in which a page that is known would ask four times
	p.await("asked <= 1")
	p.open(next.url() + "#/x/quickstart")
	p.shows("#state", "running")
	p.await(fmt.Sprintf(progress+" > %d", before))
	p.await("!document.querySelector('.lost')")
}

// An experiment for workers says that it waits for them, until one asks.
func TestWaitsForWorkers(t *testing.T) {
	p := window(t)
	server := start(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.shows("main", "There is no experiment yet")
	p.post("/experiments", `{"ask_and_tell": true, "file": "version: 1\nname: work\ntrials: 3\n`+
		`objective: {metric: a, mode: max}\ntrainable: {command: [none]}\nspace: {x: {uniform: [0, 1]}}\n"}`)
	p.shows("#experiments", "work")
	p.view("#/x/work")
	p.shows("#state", "… waits")
	p.shows("#waiting", "… no worker has asked yet")
	p.post("/experiments/work/ask", `{}`)
	p.await("document.querySelector('#counts').textContent.includes('▶ 1 running')")
	p.await("!document.querySelector('#waiting')")
	p.shows("#state", "running")
	p.clean()
}

// post sends a request with the key of the page.
func (p *page) post(path, body string) {
	p.t.Helper()
	var answer string
	p.run("post "+path, chromedp.Evaluate(fmt.Sprintf(`fetch("/api/v1%s", {method: "POST", body: %q,
		headers: {"Content-Type": "application/json", Authorization: "Bearer " + localStorage.getItem("tunehost-key")}})
		.then(async (r) => r.ok ? "" : await r.text())`, path, body), &answer, awaited))
	if answer != "" {
		p.t.Fatalf("%s: %s", path, answer)
	}
}
