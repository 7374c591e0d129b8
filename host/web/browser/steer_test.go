package browser

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// The page of a trial pauses, continues, clones and stops it; what it says is what the command line says.
func TestTrialIsSteered(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: steered
objective: {metric: a, mode: max}
trainable: {plugin: chaos, options: {score_metric: a, iterations: 1000000, sleep: 0.1}}
checkpoint: {every: 1}
space: {quality: {uniform: [0, 1]}}
trials: 1
concurrency: 2
`)
	run := start(t, dir, "run", "x.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/steered/trials/0")
	state := func(no int, want string) {
		p.shows("main .state", want)
		list := answers[steered](t, dir, "trials", "results/steered")
		if word := map[string]string{"paused": "PAUSED", "running": "RUNNING",
			"stopped early": "TERMINATED"}[want]; list[no].State != word {
			t.Errorf("trial %d is %s, and the page says %s", no, list[no].State, want)
		}
	}
	state(0, "running")
	p.press(".steer", "Pause")
	p.await(`document.querySelector("main .state")?.textContent.includes("paused") ||
		[...document.querySelectorAll("dialog button")]
			.some(b => b.textContent === "Pause anyway" && (b.click(), true))`)
	state(0, "paused")
	p.shows("#facts", "checkpoints")
	p.press(".steer", "Continue")
	state(0, "running")
	p.press(".steer", "Clone")
	p.shows("dialog", "The new trial starts from this one's checkpoint")
	p.fill(`dialog input[name="params/quality"]`, "0.25")
	p.press("dialog", "Clone")
	p.shows(".steering .said", "added trial 1")
	p.view("#/x/steered/trials/1")
	p.shows("#parameters", "0.25")
	state(1, "running")
	first, clone := answers[steered](t, dir, "trials", "results/steered")[0], answers[steered](t, dir, "trials",
		"results/steered")[1]
	if clone.Params.Quality != 0.25 || first.Params.Quality == 0.25 {
		t.Errorf("quality %v of the clone, %v of the first", clone.Params.Quality, first.Params.Quality)
	}
	p.press(".steer", "Stop trial 1")
	p.shows("dialog", "The trial ends with its last result")
	p.press("dialog", "Stop the trial")
	state(1, "stopped early")
	p.shows("#why", "user")
	p.view("#/x/steered/trials/0")
	p.shows("main h1", "Trial 0")
	state(0, "running")
	p.clean()
}

type steered struct {
	State  string `json:"state"`
	Params struct {
		Quality float64 `json:"quality"`
	} `json:"params"`
}

// A name of somebody else that leads to this machine (DNS rebinding) shows a browser nothing, also where the request
// has the right token.
func TestRebinding(t *testing.T) {
	const foreign = "rebound.example"
	p := browser(t, chromedp.Flag("host-resolver-rules", "MAP "+foreign+" 127.0.0.1"))
	server := start(t, finished(t), "serve", "results", "--listen", "127.0.0.1:0")
	right, err := url.Parse(server.url())
	if err != nil {
		t.Fatal(err)
	}
	p.open(right.String() + "#/")
	p.shows("#experiments", "quickstart")
	token := right.Query().Get("token")
	var last network.Response
	for _, query := range []string{"", "?token=" + token} {
		answer, err := chromedp.RunResponse(p.ctx, chromedp.Navigate("http://"+foreign+":"+right.Port()+"/"+query))
		if err != nil {
			t.Fatal(err)
		}
		last = *answer
		if last.Status != 421 {
			t.Errorf("%s%s is answered with %d", foreign, query, last.Status)
		}
	}
	for _, path := range []string{"/api/v1/experiments", "/app.js"} {
		var status int
		p.run("ask "+path, chromedp.Evaluate(fmt.Sprintf(
			`fetch(%q, {headers: {Authorization: "Bearer %s"}}).then((a) => a.status)`, path, token), &status, awaited))
		if status != 421 {
			t.Errorf("%s is answered with %d", path, status)
		}
	}
	p.await(`location.hostname === "` + foreign + `" && !document.querySelector("#experiments")`)
}
