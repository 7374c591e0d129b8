package browser

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// Choices that look alike are told apart where one is chosen, and where trials are listed.
func TestAlikeChoicesAreToldApart(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: alike
objective: {metric: a, mode: max}
trainable: {command: [sleep, "600"]}
space: {q: {choice: ["true", "1", 1, true, "", "(sampled)", 0.123456, b]}}
points: [{q: "1"}, {q: 1}]
trials: 2
concurrency: 2
resources: {cpu: 0.1}
`)
	run := start(t, dir, "run", "x.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/alike")
	p.press(".steering", "Add a trial")
	p.await(`[...document.querySelectorAll("dialog option")].map((o) => o.textContent).join("|") ===
		'(sampled)|"true"|"1"|1|true|""|"(sampled)"|0.123456|b'`)
	p.press("dialog", "Cancel")
	for trial, want := range []string{`"1"`, "1"} {
		p.view(fmt.Sprint("#/x/alike/trials/", trial))
		p.await(fmt.Sprintf("document.querySelector('#parameters td')?.textContent === %q", want))
	}
	p.view("#/x/alike/trials")
	p.await(`['"1"', "1"].every((want) =>
		[...document.querySelectorAll(".rows .tr > *")].some((c) => c.textContent === want))`)
	p.clean()
}

// A plot that leaves dots out says so, and how many it has.
func TestDotsThatAreLeftOut(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	for name, trials := range map[string]int{"many": 1500, "few": 30} {
		w := viewtest.New(filepath.Join(dir, "results", name), fmt.Appendf(nil, `version: 1
name: %s
objective: {metric: accuracy, mode: max}
space: {lr: {loguniform: [1e-5, 1]}}
trials: %d
trainable: {command: [train]}
`, name, trials), 1)
		w.Iterations, w.Metrics = 1, func(no core.TrialNo, _ uint64) []float64 {
			v := float64(uint64(no)*2654435761%1000) / 1000
			return []float64{v, 1 - v}
		}
		w.Start(16)
		w.Run(-1)
		w.Close()
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/many/overview")
	p.shows("#history", " of 1,500 trials with a value are drawn, improvements and extremes among them.")
	p.view("#/x/few/overview")
	p.shows("#history", "Each dot is a trial at its end")
	p.await(`!document.querySelector("#history").textContent.includes("are drawn")`)
	p.clean()
}
