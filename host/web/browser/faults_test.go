package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The long error of a failed trial stays within a window as narrow as a phone, on each page that shows it.
func TestLongErrorsFit(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", fmt.Sprintf(`version: 1
name: long
objective: {metric: a, mode: max}
trainable: {command: [sh, -c, 'echo "{\"a\": 1}"; echo %s/train.py Error_%[1]s >&2; exit 3']}
space: {n: {grid: [0, 1]}}
trials: 1
`, strings.Repeat("/folder_with_a_long_name", 12)))
	if _, failed := command(t, dir, "run", "x.yaml").Run().(*exec.ExitError); !failed {
		t.Fatal("no trial has failed")
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.run("narrow", chromedp.EmulateViewport(390, 844))
	p.open(server.url() + "#/x/long/trials/0")
	p.shows("#why", "Error_")
	p.press("#output", "stderr")
	p.shows("#output pre", "Error_")
	p.fits("the page of a failed trial")
	for _, view := range []string{"overview", "trials", "decisions", "log"} {
		p.view("#/x/long/" + view)
		p.await("document.querySelector('main h1') && !document.querySelector('main .waiting')")
		p.fits(view)
	}
	p.clean()
}

// A page of an experiment that is opened without a token says what is needed, and does not wait for ever.
func TestNoToken(t *testing.T) {
	p := window(t)
	server := start(t, finished(t), "serve", "results", "--listen", "127.0.0.1:0")
	at, _, _ := strings.Cut(server.url(), "?")
	for _, view := range []string{"", "trials", "trials/0", "parallel"} {
		p.open(at + "#/x/quickstart/" + view)
		p.shows("main .failure", "a token is needed: open the URL that `tunehost serve` has printed")
		p.await(`!document.querySelector("main .waiting, main .lost")`)
		p.open("about:blank")
	}
}

// Stop says what Resume can do later, and Resume does it.
func TestStopSaysWhatIsTrue(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: ending
objective: {metric: a, mode: max}
trainable: {plugin: chaos, options: {score_metric: a, iterations: 1000000, sleep: 0.1}}
space: {quality: {uniform: [0, 1]}}
trials: 5
concurrency: 2
`)
	run := start(t, dir, "run", "x.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/ending")
	p.shows("#counts", "2 running")
	p.press(".steering", "Stop")
	p.shows("dialog", "none of them trains on later. Resume later goes on with the 3 trials not yet made.")
	p.press("dialog", "Stop the experiment")
	p.shows("#state", "stopped")
	_ = run.Wait()
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	ends(t, dir, "results/ending")
	p.open(server.url() + "#/x/ending")
	p.shows("#counts", "2 terminated")
	p.press(".steering", "Resume")
	p.shows("#state", "running")
	p.shows("#counts", "2 running")
	p.clean()
}

// mendable runs trials that fail until there is a file "mended"; the last one waits for a file "enough".
func mendable(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "trial.sh", `cd `+dir+`
echo '{"a": '$1'}'
[ $1 = 3 ] || exec test -e mended
until [ -e enough ]; do sleep 0.1; done
`)
	write(t, dir, "x.yaml", `version: 1
name: mendable
objective: {metric: a, mode: max}
trainable: {command: [sh, `+dir+`/trial.sh, "{n}"]}
space: {n: {grid: [0, 1, 2, 3]}}
trials: 1
concurrency: 4
resources: {cpu: 0}
`)
	return dir
}

// All failed trials run again by one button, which asks first and says how many, while a host runs the experiment.
func TestRetryAll(t *testing.T) {
	p := window(t)
	dir := mendable(t)
	run := start(t, dir, "run", "x.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/mendable")
	p.shows("#counts", "3 failed")
	write(t, dir, "mended", "")
	p.press(".steering", "Retry 3 failed")
	p.shows("dialog", "Run 3 failed trials again?")
	p.shows("dialog", "Each continues from its last checkpoint")
	p.press("dialog", "Run again")
	p.shows(".steering .said", "running 3 failed trials again")
	p.shows("#counts", "3 terminated")
	p.await(`!document.querySelector("#counts").textContent.includes("failed")`)
	p.await(`![...document.querySelectorAll(".steer button")].some((b) => b.textContent.includes("failed"))`)
	p.clean()
}

// The same button resumes an experiment that no host runs.
func TestRetryAllResumes(t *testing.T) {
	p := window(t)
	dir := mendable(t)
	write(t, dir, "enough", "")
	if _, failed := command(t, dir, "run", "x.yaml").Run().(*exec.ExitError); !failed {
		t.Fatal("no trial has failed")
	}
	write(t, dir, "mended", "")
	ends(t, dir, "results/mendable")
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/mendable")
	p.shows("#counts", "3 failed")
	p.press(".steering", "Retry 3 failed")
	p.shows("dialog", "The experiment is resumed")
	p.press("dialog", "Run again")
	p.shows("#counts", "4 terminated")
	p.shows("#state", "finished")
	p.clean()
}

// A best value that becomes worse is explained: by a worse result of the same trial, or by a trial that begins anew.
func TestBestThatFalls(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "trial.sh", `cd `+dir+`
[ -e again ] && until [ -e enough ]; do sleep 0.1; done
echo '{"a": 0.'$1'}'
[ $1 = 7 ] && exit 0
until [ -e worse ]; do sleep 0.1; done
echo '{"a": 0.'$(($1 - 1))'}'
until [ -e enough ]; do sleep 0.1; [ -e broken ] && exit 4; done
`)
	write(t, dir, "x.yaml", `version: 1
name: falls
objective: {metric: a, mode: max}
trainable: {command: [sh, `+dir+`/trial.sh, "{n}"]}
space: {n: {grid: [7, 9]}}
trials: 1
concurrency: 2
resources: {cpu: 0}
`)
	if err := os.Mkdir(filepath.Join(dir, "results"), 0o700); err != nil {
		t.Fatal(err)
	}
	start(t, dir, "run", "x.yaml")
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0") // it stays when the run has ended
	p.open(server.url() + "#/x/falls")
	p.shows("#best-value", "0.9")
	p.shows("#counted", "The last value of each trial counts")
	p.shows("#counts", "1 terminated")
	ends(t, dir, "results/falls")
	write(t, dir, "worse", "")
	p.shows("#best-value", "0.8")
	p.shows("#fell", "It was 0.9, by trial 1, which has reported 0.8 since: the last value of a trial counts.")
	p.view("#/x/falls/trials/1")
	p.view("#/x/falls")
	p.shows("#fell", "It was 0.9")
	p.run("reload", chromedp.Reload())
	p.shows("#best-value", "0.8")
	write(t, dir, "again", "")
	write(t, dir, "broken", "")
	p.shows("#counts", "1 failed")
	p.shows("#best", "it has failed later")
	p.await("!document.querySelector('#fell')")
	p.view("#/x/falls/trials/1")
	p.press(".steer", "Retry from the beginning")
	p.press("dialog", "Run again")
	p.view("#/x/falls")
	p.shows("#best-value", "0.7")
	p.shows("#fell", "It was 0.8, by trial 1, which was started again from the beginning")
	write(t, dir, "enough", "")
	p.clean()
}

// The best trial, the front, the importance of parameters and the plots of the command count the last values of failed
// trials alike, and pages say so.
func TestFailedTrialsCount(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: counted
objectives:
  - {metric: a, mode: max}
  - {metric: b, mode: max}
trainable: {command: [sh, -c, 'echo "{\"a\": {n}, \"b\": $((3 - {n}))}"; [ {n} != 2 ]']}
space: {n: {grid: [0, 1, 2, 3]}}
trials: 1
`)
	if _, failed := command(t, dir, "run", "x.yaml").Run().(*exec.ExitError); !failed {
		t.Fatal("no trial has failed")
	}
	out, err := command(t, dir, "plot", "results/counted", "pareto", "--terminal").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "4 on the front") || strings.Contains(string(out), "left out") {
		t.Errorf("%v: %s", err, out)
	}
	out, err = command(t, dir, "plot", "results/counted", "slice", "--terminal").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "1 trial failed after the last value") {
		t.Errorf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/counted/pareto")
	p.shows("#front h2", "4 trials on the front")
	p.shows("#pareto + p", "✕ is a trial that has failed")
	p.tellsFailed("#front")
	p.shows("#counted", "also of one that still runs or has failed")
	p.await(`document.querySelector("#pareto canvas").ariaLabel.endsWith(": 4 trials, 4 of them on the front")`)
	for _, view := range []string{"overview", "parameters"} {
		p.view("#/x/counted/" + view)
		p.shows("#counted", "also of one that still runs or has failed")
	}
	p.view("#/x/counted")
	p.tellsFailed("#best")
	p.run("watch lines", chromedp.Evaluate(watchTexts, nil))
	p.view("#/x/counted/pareto")
	p.await(crossed)
	p.clean()
	q := p.another()
	q.report(dir)
	q.view("#/x/counted/pareto")
	q.tellsFailed("#front")
	q.clean()
}

// crossed says that one trial of the front is drawn as a cross: two lines.
const crossed = `new Set(strokes.filter((s) => s.label.includes("on the front") && s.width === 2 && s.path.length === 4)
	.map((s) => JSON.stringify(s.path))).size >= 1`

// tellsFailed waits for a table of four trials of which trial 2 has failed, with their iterations.
func (p *page) tellsFailed(within string) {
	p.t.Helper()
	p.await(fmt.Sprintf(`JSON.stringify([...document.querySelectorAll("%s tbody tr")].map((r) =>
		[r.cells[0].textContent, r.cells[1].textContent.includes("failed"), r.cells[4].textContent])) ===
		'[["0",false,"1"],["1",false,"1"],["2",true,"1"],["3",false,"1"]]'`, within))
}
