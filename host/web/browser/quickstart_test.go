package browser

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

type trial struct {
	Trial     string             `json:"trial"`
	Number    int                `json:"number"`
	State     string             `json:"state"`
	Params    map[string]any     `json:"params"`
	Metrics   map[string]float64 `json:"metrics"`
	Iteration int                `json:"iteration"`
	Reason    string             `json:"reason"`
	Value     float64            `json:"value"`
}

// number writes a metric as `tunehost status` does.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 5, 64) }

// quickstart copies the example into a folder, with settings for a test.
func quickstart(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text, err := os.ReadFile("../../../examples/quickstart/experiment.yaml")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "experiment.yaml"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A page shows a live run, stops it, and then shows what the command line prints.
func TestQuickstart(t *testing.T) {
	p := window(t)
	dir := quickstart(t)
	// it runs until the page stops it
	run := start(t, dir, "run", "experiment.yaml", "--set", "trials=100000", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/")
	p.shows("#experiments", "quickstart")
	p.view("#/x/quickstart")
	p.shows("#state", "running")
	p.await(progress + " > 20") // trials end under the page
	p.await("document.querySelector('#history canvas')?.dataset.drawn > 0")
	p.await("document.querySelector('#curves canvas')?.dataset.drawn > 0")
	steer(p)
	p.press(".steering", "Stop")
	p.press("dialog", "Stop the experiment")
	if err := run.Wait(); err != nil {
		t.Fatalf("%v: %s", err, run.screen)
	}
	p.clean()
	p.shows(".lost", "not up to date") // the server of the run is gone, and the page says so

	served := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(served.url() + "#/x/quickstart")
	p.shows("#state", "stopped")
	compareStatus(t, p, dir)
	compareTrials(t, p, dir)
	compareTrial(t, p, dir)
	p.clean()
}

// steer adds a trial, and changes a setting.
func steer(p *page) {
	p.t.Helper()
	p.press(".steering", "Add a trial")
	p.fill("dialog input[name='params/lr']", "0.125")
	p.press("dialog", "Add")
	p.shows(".steering .said", "added trial ")
	number := strings.TrimPrefix(p.text(".steering .said"), "✓ added trial ")
	p.view("#/x/quickstart/trials/" + number)
	p.shows("#parameters", "0.125")
	p.view("#/x/quickstart")
	p.press(".steering", "Settings")
	p.fill("dialog input[name=trials]", "90000")
	p.press("dialog", "Change")
	p.shows("#progress", "/90,001") // with the added trial
}

type status struct {
	Counts map[string]int `json:"counts"`
	Never  int            `json:"never_started"`
	Best   trial          `json:"best"`
}

func compareStatus(t *testing.T, p *page, dir string) {
	t.Helper()
	st := answers[status](t, dir, "status", "results/quickstart")[0]
	ran := st.Counts["TERMINATED"] - st.Never // the page tells the others apart
	p.shows("#counts", thousands(ran)+" terminated")
	p.shows("#progress", thousands(ran+st.Counts["ERROR"])+"/")
	best := answers[trial](t, dir, "best", "results/quickstart")[0]
	p.shows("#best-value", number(best.Value))
	p.shows("#best", fmt.Sprintf("trial %d (%s)", best.Number, best.Trial))
	p.shows("#best pre", fmt.Sprintf("units: %v", best.Params["units"]))
	p.press("#best", "Python")
	p.shows("#best pre", fmt.Sprintf(`"units": %v`, best.Params["units"]))
}

func compareTrials(t *testing.T, p *page, dir string) {
	t.Helper()
	list := answers[trial](t, dir, "trials", "results/quickstart", "--sort", "accuracy")
	p.view("#/x/quickstart/trials?sort=accuracy")
	p.shows("#found", thousands(len(list))+" trials")
	var rows []string
	p.run("read the rows", chromedp.WaitVisible(".rows .tr a"), chromedp.Evaluate(`
		[...document.querySelectorAll(".rows .tr")]
		.map(r => r.querySelector("a").textContent + " " + r.children[3].textContent)`, &rows))
	if len(rows) < min(20, len(list)) {
		t.Errorf("only %d rows are shown", len(rows))
	}
	for i := range min(len(rows), len(list)) {
		if want := fmt.Sprintf("%d %s", list[i].Number, number(list[i].Metrics["accuracy"])); rows[i] != want {
			t.Errorf("row %d is %q, want %q", i, rows[i], want)
		}
	}
	p.view("#/x/quickstart/trials?where=" + url.QueryEscape("lr > 0.01"))
	few := answers[trial](t, dir, "trials", "results/quickstart", "--where", "lr > 0.01")
	p.shows("#found", fmt.Sprintf("%s of %s trials", thousands(len(few)), thousands(len(list))))
}

// thousands writes a number of trials as the page does.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

func compareTrial(t *testing.T, p *page, dir string) {
	t.Helper()
	for _, of := range answers[trial](t, dir, "trials", "results/quickstart", "--limit", "2") {
		p.view(fmt.Sprintf("#/x/quickstart/trials/%d", of.Number))
		p.shows("main", of.Trial)
		p.shows("#why", of.Reason)
		p.shows("#facts", strconv.FormatFloat(of.Metrics["loss"], 'g', 6, 64))
		p.shows("#parameters", "optimizer")
		p.await("document.querySelector('#results canvas')?.dataset.drawn > 0")
	}
}
