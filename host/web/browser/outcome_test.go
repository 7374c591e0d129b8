package browser

import (
	"fmt"
	"os/exec"
	"testing"
)

// failing runs an experiment that its limit of failed trials ends: the trials from number first on fail, those
// before report a value, and those that wait for room at the end never start.
func failing(t *testing.T, dir, name string, first int) {
	t.Helper()
	write(t, dir, name+".sh", fmt.Sprintf("[ $1 -ge %d ] && exit 4\necho '{\"a\": 1}'\n", first))
	write(t, dir, name+".yaml", fmt.Sprintf(`version: 1
name: %[1]s
objective: {metric: a, mode: max}
trainable: {command: [sh, %[1]s.sh, "{n}"]}
resources: {cpu: 1}
concurrency: 4
budget: {trials_failed: 2}
space:
  n: {grid: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}
trials: 1
`, name))
	run := command(t, dir, "run", name+".yaml", "--resources", "cpu=1")
	if _, failed := run.Run().(*exec.ExitError); !failed {
		t.Fatal("no trial has failed")
	}
}

// counted is what `tunehost status` says of the trials.
type counted struct {
	Never  int            `json:"never_started"`
	Counts map[string]int `json:"counts"`
}

// An experiment that its failed trials have ended does not look like a success: the list and the overview say why it
// ended, count only trials that ran as done, and advise what continues it.
func TestFailedExperiment(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	failing(t, dir, "fruitless", 0)
	failing(t, dir, "partly", 1)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	for name, ending := range map[string]string{"fruitless": "⚠ finished without a result",
		"partly": "⚠ finished by its limit of failed trials"} {
		whole := map[string]int{"partly": 1}[name]
		s := answers[counted](t, dir, "status", "results/"+name)[0]
		if s.Never == 0 || s.Counts["TERMINATED"]-s.Never != whole || s.Counts["ERROR"] != 2 {
			t.Fatalf("%s: %+v", name, s)
		}
		p.view("#/")
		p.await(fmt.Sprintf(`[...document.querySelectorAll('#experiments tbody tr')].some((row) =>
			row.cells[1].textContent === %q && row.cells[2].textContent.startsWith(%q) &&
			row.cells[2].textContent.includes("the budget of failed trials is used up") &&
			row.cells[3].textContent.startsWith("%d/10 trials"))`, name, ending, whole+2))
		p.warns("#experiments .state-flawed")
		p.view("#/x/" + name)
		p.shows("#state", ending)
		p.warns("#state .state-flawed")
		p.await(`document.querySelector("#state .state").getBoundingClientRect().right <=
			document.querySelector("#progress").getBoundingClientRect().left`)
		p.await(fmt.Sprintf(`document.querySelector("#progress").textContent === "%d/10"`, whole+2))
		p.await(fmt.Sprintf(`document.querySelector("#counts").textContent === %q`,
			map[string]string{"partly": "■ 1 terminated (1 completed, 0 stopped early), "}[name]+"✕ 2 failed"))
		p.shows("[aria-label=state]", trialsOf(s.Never)+" never started")
		p.shows("#more", "results/"+name+" --errored runs the 2 trials that failed again")
		p.shows("#more", "Once budget.trials_failed is raised in Settings, tunehost resume ")
		p.shows("#more", fmt.Sprintf("results/%s --unstarted runs the %s that never started", name,
			trialsOf(s.Never)))
		p.await(`!document.querySelector("#more").textContent.includes("raise their number")`)
	}
	p.clean()
}

// fail_fast is no limit of failed trials, and the page does not call it one.
func TestFailedFast(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "fast.yaml", `{version: 1, name: fast, objective: {metric: a, mode: max}, concurrency: 1,
trainable: {command: [sh, -c, "[ {n} = 0 ] && echo '{{\"a\": 1}}'"]}, space: {n: {grid: [0, 1, 2]}},
failures: {fail_fast: true}}`)
	if _, failed := command(t, dir, "run", "fast.yaml").Run().(*exec.ExitError); !failed {
		t.Fatal("no trial has failed")
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/fast")
	p.shows("#state", "⚠ finished because a trial failed (fail_fast)")
	p.clean()
}

// trialsOf counts trials: how many have not started depends on when the limit is noticed.
func trialsOf(n int) string {
	if n == 1 {
		return "1 trial"
	}
	return fmt.Sprint(n, " trials")
}

// More trials of a searcher that has no more points are not offered: the page says why, and what makes more.
func TestExhaustedSearcher(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: few
objective: {metric: a, mode: max}
trainable: {command: [sh, -c, 'echo "{\"a\": 1}"']}
space: {n: {uniform: [0, 1]}}
searcher: {plugin: grid, resolution: 2}
trials: 5
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/few")
	p.shows("[aria-label=state]", "searcher grid has no more points: 2 of 5 trials were made")
	p.shows("#more", "For more trials with another searcher: tunehost run FILE --set searcher=NAME --extend")
	p.await(`!document.querySelector("#more").textContent.includes("raise their number")`)
	p.press(".steering", "Settings")
	p.shows("#exhausted", "The searcher has no more points")
	p.fill("dialog input[name=trials]", "9")
	p.press("dialog", "Change")
	p.shows("#later", "pending trials: 5 → 9")
	p.await(`[...document.querySelectorAll(".steering button")].some((b) => b.textContent.includes("Resume") &&
		b.title.includes("no more points"))`)
	p.clean()
}

// A page whose server is gone advises nothing that needs the server.
func TestAdviceWithoutServer(t *testing.T) {
	p := window(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart")
	p.shows("#more", "raise their number in Settings")
	server.kill()
	p.shows(".lost", "This page is not up to date")
	p.await("!document.querySelector('#more')")
	p.shows("#state", "finished")
}

// warns waits until an element has the colour of warnings.
func (p *page) warns(selector string) {
	p.t.Helper()
	p.await(fmt.Sprintf(`(() => {
		const sample = document.createElement("i");
		sample.style.color = "var(--warm)";
		document.body.append(sample);
		const warm = getComputedStyle(sample).color;
		sample.remove();
		const e = document.querySelector(%q);
		return e && getComputedStyle(e).color === warm;
	})()`, selector))
}

// What a budget has cut off is not complete, and the page says which budget to raise.
func TestCutOffByABudget(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "cut.yaml", `version: 1
objective: {metric: loss, mode: min}
trainable: {command: [sh, -c, 'echo "{{\"loss\": 1}}"; sleep 60']}
space: {x: {uniform: [0, 1]}}
trials: 6
concurrency: 2
budget: {time: 1s}
`)
	if out, err := command(t, dir, "run", "cut.yaml", "--set", "stop_grace=100ms").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/cut")
	p.shows("main", "(0 completed, 2 stopped early")
	p.shows("#more", "For more trials, raise budget.time in Settings, then press Resume")
	p.view("#/x/cut/trials")
	p.await(`document.querySelector("main").textContent.split("stopped earlythe time budget").length === 3`)
	p.clean()
}
