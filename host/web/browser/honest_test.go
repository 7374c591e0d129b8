package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// sinking is an experiment whose trial reports a good value, then a worse one, and then trains on without end.
const sinking = `version: 1
name: sinking
objective: {metric: a, mode: max}
trainable: {command: [sh, -c, 'echo "{\"a\": 0.9}"; echo "{\"a\": 0.8}"; sleep 1000']}
space: {n: {int: [1, 9]}, m: {int: [1, 9]}}
trials: 1
stop: {iteration: 100}
`

// sinks starts it, and waits until it has reported both values.
func sinks(t *testing.T, p *page) (dir string, run *program) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "x.yaml", sinking)
	run = start(t, dir, "run", "x.yaml", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/sinking")
	p.shows("#best-value", "0.8")
	return dir, run
}

// While the host waits for room on the disk the page says that it waits, and nothing estimates when it ends.
func TestWaitsForTheDisk(t *testing.T) {
	p := window(t)
	dir, _ := sinks(t, p)
	p.shows("#left", "left")
	full := filepath.Join("results", "sinking", ".full")
	write(t, dir, full, "")
	p.shows("#waiting", "the disk is full")
	p.await(`document.querySelector("#state").textContent === "… waits"`)
	p.shows("#left", "not known while it waits")
	out, err := command(t, dir, "status", "results/sinking").Output()
	if err != nil || strings.Contains(string(out), " left") || !strings.Contains(string(out), "the disk is full") {
		t.Errorf("%v: %s", err, out)
	}
	if err := os.Remove(filepath.Join(dir, full)); err != nil {
		t.Fatal(err)
	}
	p.shows("#state", "running")
	p.clean()
}

// A form has its first field focused. The key that has opened it, pressed twice, adds nothing.
func TestFirstFieldIsFocused(t *testing.T) {
	p := window(t)
	sinks(t, p)
	p.run("focus as a window in front", emulation.SetFocusEmulationEnabled(true))
	for form, field := range map[string]string{"Add a trial": "params/n", "Settings": "trials"} {
		p.press(".steering", form)
		p.await(`document.querySelector("dialog form") && document.activeElement.name === "` + field + `"`)
		p.press("dialog", "Cancel")
	}
	p.view("#/x/sinking/trials/0")
	p.press(".steering", "Add with these parameters")
	p.await(`document.querySelector("dialog form") && document.activeElement.name === "params/n"`)
	p.press("dialog", "Cancel")
	p.view("#/x/sinking")
	p.press(".steering", "Add a trial")
	p.await(`document.activeElement.name === "params/n"`)
	var sent int
	p.run("Enter", chromedp.KeyEvent(kb.Enter), chromedp.Evaluate(`performance.getEntriesByType("resource")
		.filter((r) => r.name.endsWith("/trials") && r.initiatorType === "fetch").length`, &sent))
	if sent != 0 {
		t.Error("Enter in a form of which nothing is typed has added a trial")
	}
	p.fill(`dialog input[name="params/n"]`, "3")
	p.run("Enter", chromedp.Focus(`dialog input[name="params/n"]`), chromedp.KeyEvent(kb.Enter))
	p.shows(".steering .said", "added trial 1")
	p.clean()
}

// What went wrong in a form stands right below the words that lead to it.
func TestFailureInAForm(t *testing.T) {
	p := window(t)
	_, run := sinks(t, p)
	p.press(".steering", "Add a trial")
	p.await(`document.querySelector("dialog form input")`)
	run.kill()
	p.run("add", chromedp.Evaluate(`document.querySelector("dialog form").requestSubmit()`, nil))
	p.shows("dialog .failure", "the server cannot be reached")
	p.shows("dialog .wrong", "It was not added:")
	p.await(`document.querySelector("dialog .failure").getBoundingClientRect().top -
		document.querySelector("dialog .wrong p").getBoundingClientRect().bottom < 16`)
}

// Resources are what trials have asked for, and not what their programs use.
func TestResourcesAreAskedFor(t *testing.T) {
	p := window(t)
	sinks(t, p)
	p.view("#/x/sinking/resources")
	p.shows("#resources", "what the trials that run have asked for")
	p.shows("#resources", "no trial asks for memory")
	p.await(`!document.querySelector("#resources").textContent.includes("0 B of")`)
	p.clean()
}

// An interrupted experiment says without a pointer why no trial can be added, and that its best value was better.
func TestInterruptedSaysWhy(t *testing.T) {
	p := window(t)
	dir, run := sinks(t, p)
	run.kill()
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/sinking")
	p.shows("#state", "interrupted")
	p.shows("#adds", "Trials are added while the experiment runs: Resume it first.")
	p.shows("#best-value", "0.8")
	p.shows("#fell", "It was 0.9, by trial 0, which has reported 0.8 since: the last value of a trial counts.")
	p.clean()
}

// The page of a trial says what is under way after one's own action, and sees the next state without the status of the
// experiment.
func TestOwnActionIsUnderWay(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "trial.sh", `[ -e `+dir+`/well ] || exit 3
for i in $(seq 1000); do echo '{"a": 1}'; sleep 1; done
`)
	write(t, dir, "x.yaml", `version: 1
name: retried
objective: {metric: a, mode: max}
trainable: {command: [sh, `+dir+`/trial.sh, "{n}"]}
space: {n: {grid: [1, 2]}}
concurrency: 1
trials: 1
`)
	if _, failed := command(t, dir, "run", "x.yaml").Run().(*exec.ExitError); !failed {
		t.Fatal("no trial has failed")
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	write(t, dir, "well", "")
	p.open(server.url() + "#/x/retried/trials/0")
	p.shows("main .state", "failed")
	ends(t, dir, "results/retried")
	p.run("watch states", chromedp.Evaluate(`{
		window.seen = [];
		new MutationObserver(() => seen.push(document.querySelector("main .state")?.textContent ?? ""))
			.observe(document.body, {subtree: true, childList: true, characterData: true});
	}`, nil))
	p.press(".steer", "Retry")
	p.await(`seen.some((s) => s.includes("starting again"))`)
	p.shows("main .state", "running")
	p.await(`[...document.querySelectorAll(".steer button")].some(b => b.textContent.includes("Stop trial 0") && ` +
		`!b.disabled && b.ariaDisabled !== "true")`) // the status has said that a host runs
	p.run("no status any more", chromedp.Evaluate(`{
		const { fetch } = window;
		window.fetch = (path, init) => path.endsWith("/retried") ? new Promise(() => {}) : fetch(path, init);
	}`, nil))
	p.press(".steer", "Stop trial 0")
	p.press("dialog", "Stop the trial")
	p.await(`seen.some((s) => s.includes("stopping"))`)
	p.shows("main .state", "stopped early")
	p.clean()
}
