package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/tunehost/tunehost/internal/testplace"
)

// report writes a report of all experiments in a folder, and opens it as a file.
func (p *page) report(dir string) {
	p.t.Helper()
	file := filepath.Join(dir, "report.html")
	if out, err := command(p.t, dir, "report", "results", "-o", file).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	p.file = "file://" + file
	p.open(p.file + "#/")
}

// drawn fails if the page has a plot without anything in it.
func (p *page) drawn(view string) {
	p.t.Helper()
	var blank []string
	p.run("look at "+view, chromedp.Evaluate(`[...document.querySelectorAll("canvas")].filter(c => {
		const pixels = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		return new Set(new Uint32Array(pixels.buffer)).size < 5;
	}).map(c => c.ariaLabel)`, &blank))
	for _, label := range blank {
		p.t.Errorf("%s: the plot %q is blank", view, label)
	}
}

// A report opens as a file: each view is there, and shows what the command line prints (B-141).
func TestReport(t *testing.T) {
	p := window(t)
	axe := axeSource(t)
	dir := finished(t)
	best := answers[trial](t, dir, "best", "results/quickstart")[0]
	orders := map[string][]trial{"": answers[trial](t, dir, "trials", "results/quickstart")}
	for _, sort := range []string{"accuracy", "-accuracy", "lr", "-optimizer", "-ended", "state", "time"} {
		orders[sort] = answers[trial](t, dir, "trials", "results/quickstart", "--sort", sort)
	}
	shares := answers[share](t, dir, "importance", "results/quickstart")
	p.report(dir)
	if err := os.RemoveAll(filepath.Join(dir, "results")); err != nil { // nothing but the file is needed
		t.Fatal(err)
	}
	p.run("reload", chromedp.Reload())
	p.shows("#experiments", "quickstart")
	p.await("document.querySelector('#experiments canvas')?.dataset.drawn > 0")
	for view, complete := range views {
		p.view("#/x/quickstart/" + view)
		p.await(complete)
		p.await("[...document.querySelectorAll('canvas')].every(c => c.dataset.drawn > 0)")
		p.drawn(view)
		p.await("!document.querySelector('.steering, [role=search], .failure')")
		p.accessible(axe, "report, "+view)
	}
	p.view("#/x/quickstart")
	p.shows("#made", "report of")
	p.shows("#best-value", number(best.Value))
	p.shows("#best", fmt.Sprintf("trial %d (%s)", best.Number, best.Trial))
	for _, s := range shares {
		p.view("#/x/quickstart/parameters")
		p.shows("#importance", fmt.Sprintf("%s%.1f %%", s.Param, 100*s.Importance))
	}
	for sort, list := range orders {
		p.ordered(sort, list)
	}
	p.metrics()
	p.view("#/compare?of=quickstart,quickstart")
	p.await("document.querySelector('#compared canvas')?.dataset.drawn > 0")
	p.drawn("compare")
	p.clean()
}

// A report of a running experiment is a picture of a moment: it says so and when, shows each view, changes nothing by
// itself, and offers nothing to change.
func TestReportOfRunning(t *testing.T) {
	p := window(t)
	dir := quickstart(t)
	run := start(t, dir, "run", "experiment.yaml", "--set", "trials=1000")
	testplace.Soon(t, "the end of twelve trials", func() bool {
		out, err := command(t, dir, "status", "results/quickstart", "--json").Output()
		var x status
		return err == nil && json.Unmarshal(out, &x) == nil && x.Counts["TERMINATED"] >= 12
	})
	began := time.Now().Truncate(time.Second)
	p.report(dir)
	made := time.Now()
	run.kill()
	for view, complete := range views {
		p.view("#/x/quickstart/" + view)
		p.await(complete)
		p.shows("#moment", "a picture of a moment: the experiment was running at")
		p.await("!document.querySelector('.steering, .steer, .lost, .failure')")
	}
	p.view("#/x/quickstart")
	p.shows("#state", "was running when this report was made")
	p.shows("#left", "was running when this report was made, ")
	p.await("/ (was|were) running/.test(document.querySelector('#counts').textContent)")
	p.await("!document.body.innerText.includes(' left')")
	var at int64
	p.run("when", chromedp.Evaluate(`Date.parse(document.querySelector("#moment time").dateTime)`, &at))
	if then := time.UnixMilli(at); then.Before(began) || then.After(made) {
		t.Errorf("the page says %v; the report was made from %v to %v", then, began, made)
	}
	p.counted()
	p.clean()
}

// counted fails if the counts of a report's overview are not those of its list of trials.
func (p *page) counted() {
	p.t.Helper()
	var n int
	p.run("count", chromedp.Evaluate(`[...document.querySelectorAll("#counts span")]
		.reduce((n, s) => n + Number(s.textContent.match(/[0-9,]*[0-9]/)[0].replaceAll(",", "")), 0)`, &n))
	p.view("#/x/quickstart/trials")
	p.shows("#found", thousands(n)+" trials")
}

// ordered fails if a report sorts trials in another order than the command.
func (p *page) ordered(sort string, list []trial) {
	p.t.Helper()
	p.view("#/x/quickstart/trials?sort=" + sort)
	var want []string
	for _, x := range list {
		want = append(want, fmt.Sprint(x.Number))
	}
	p.await(fmt.Sprintf("[...document.querySelectorAll('.rows .tr a')].map(a => a.textContent).join() === %q",
		strings.Join(want, ",")))
}

// On a phone, too, the page of a report says which experiment it shows.
func TestNameInANarrowReport(t *testing.T) {
	p := window(t)
	dir := finished(t)
	p.run("narrow", chromedp.EmulateViewport(390, 844))
	p.report(dir)
	p.view("#/x/quickstart")
	p.shows("#made", "report of")
	p.await("document.querySelector('.top nav a').getBoundingClientRect().width > 40 && " +
		"document.querySelector('.top nav').clientWidth > 60")
	p.fits("report")
	p.clean()
}

// metrics chooses each metric that the curves of a report offer: its curves are those that are shown.
func (p *page) metrics() {
	p.t.Helper()
	p.view("#/x/quickstart/overview")
	p.await("document.querySelector('#curves select')?.options.length > 1")
	var names []string
	p.run("metrics", chromedp.Evaluate("[...document.querySelectorAll('#curves option')].map(o => o.value)", &names))
	for _, name := range names {
		p.run("choose "+name, chromedp.Evaluate(fmt.Sprintf(`{
			const field = document.querySelector("#curves select");
			field.value = %q;
			field.dispatchEvent(new Event("change", {bubbles: true}));
		}`, name), nil))
		p.await(fmt.Sprintf("document.querySelector('#curves canvas')?.ariaLabel.startsWith(%q)", name+" of "))
	}
	for _, name := range names {
		p.view("#/x/quickstart/parameters?metric=" + name)
		p.await("document.querySelector('#importance td') && !document.querySelector('.failure')")
	}
}

// In a report, too, names and texts are text.
func TestHostileReport(t *testing.T) {
	p := window(t)
	p.report(hostile(t))
	p.harmless()
	p.view("#/x/hostile/trials/0")
	p.shows("#output", "does not have the output")
	p.clean()
}
