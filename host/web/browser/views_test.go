package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/internal/toolchain"
)

// views are the views of an experiment, with what shows that one is complete.
var views = map[string]string{
	"overview": "document.querySelector('#curves canvas')?.dataset.drawn > 0",
	"trials":   "document.querySelectorAll('.rows .tr a').length >= 10",
	"trials/0": "document.querySelector('#results canvas')?.dataset.drawn > 0",
	"parallel": "document.querySelector('#parallel canvas')?.dataset.drawn > 0",
	"parameters": "document.querySelector('#importance td') && " +
		"document.querySelector('#contour canvas')?.dataset.drawn > 0",
	"pareto":    "document.querySelector('#pareto canvas')?.dataset.drawn > 0",
	"timeline":  "document.querySelector('#timeline canvas')?.dataset.drawn > 0",
	"lineage":   "document.querySelector('#lineage canvas')?.dataset.drawn > 0",
	"decisions": "document.querySelectorAll('#decisions td').length > 0",
	"resources": "document.querySelectorAll('#resources td').length > 0",
	"log":       "document.querySelector('#host-log pre')?.textContent.length > 0",
	"journal":   "document.querySelectorAll('#journal td').length > 0",
	"file":      "document.querySelector('#file pre')?.textContent.includes('loguniform')",
}

// finished runs the quickstart's experiment to its end, with few trials.
func finished(t *testing.T) (dir string) {
	t.Helper()
	dir = quickstart(t)
	run := command(t, dir, "run", "experiment.yaml", "--set", "trials=12")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// Every view shows something, has no serious fault of accessibility, and asks no other server for anything.
func TestViews(t *testing.T) {
	p := window(t)
	axe := axeSource(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.shows("#experiments", "quickstart")
	p.accessible(axe, "experiments")
	for view, complete := range views {
		p.view("#/x/quickstart/" + view)
		p.await(complete)
		p.accessible(axe, view)
	}
	p.view("#/compare?of=quickstart,quickstart")
	p.await("document.querySelector('#compared canvas')?.dataset.drawn > 0")
	p.accessible(axe, "compare")
	p.clean()
	shares(t, p, dir)
}

type share struct {
	Param      string  `json:"param"`
	Importance float64 `json:"importance"`
}

// shares compares the importance of parameters with the command's.
func shares(t *testing.T, p *page, dir string) {
	t.Helper()
	p.view("#/x/quickstart/parameters")
	for _, s := range answers[share](t, dir, "importance", "results/quickstart") {
		p.shows("#importance", fmt.Sprintf("%s%.1f %%", s.Param, 100*s.Importance))
	}
	p.shows("#cautions", "trials count as the best: a few more can change the shares")
}

// axeSource returns the script of axe-core, which `make web` installs.
func axeSource(t *testing.T) string {
	t.Helper()
	toolchain.Need(t, toolchain.JavaScript)
	file := toolchain.Built(t, toolchain.JavaScript, "host/web/node_modules/axe-core/axe.min.js", "web")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// accessible fails if axe-core finds a serious fault, in either colours.
func (p *page) accessible(axe, view string) {
	p.t.Helper()
	const check = `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations
		.filter(v => v.impact === "serious" || v.impact === "critical")
		.map(v => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3)
			.map(n => n.html + " " + n.failureSummary).join(" | ")))`
	for _, theme := range []string{"light", "dark"} {
		var faults []string
		p.run("axe "+view, chromedp.Evaluate(axe+";void 0", nil),
			chromedp.Evaluate(fmt.Sprintf("void (document.documentElement.dataset.theme = %q)", theme), nil),
			chromedp.Evaluate(check, &faults, awaited))
		for _, fault := range faults {
			p.t.Errorf("%s, %s: %.600s", view, theme, fault)
		}
	}
}

// awaited waits for the value of a promise.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// A page stays open while its host is killed, and when the page starts the host again.
func TestKilledHost(t *testing.T) {
	p := window(t)
	dir := quickstart(t)
	run := start(t, dir, "run", "experiment.yaml", "--set", "trials=100000")
	testplace.Soon(t, "a status", func() bool { return command(t, dir, "status", "results/quickstart").Run() == nil })
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart")
	p.shows("#state", "running")
	run.kill()
	p.shows("#state", "interrupted")
	p.shows("#left", "not running")
	p.await("/ (was|were) running/.test(document.querySelector('#counts').textContent)")
	p.shows("#gone", "The host that ran this experiment is gone. Resume continues; what ran starts from")
	ends(t, dir, "results/quickstart")
	p.press(".steering", "Resume")
	p.shows("#state", "running")
	before := ended(p)
	p.await(fmt.Sprintf(progress+" > %d", before))
	p.press(".steering", "Pause")
	p.await("/paused|lose/.test(document.querySelector('#state').textContent + document.body.textContent)")
	p.run("reload", chromedp.Reload())
	p.await("/running|paused/.test(document.querySelector('#state')?.textContent)")
	p.press(".steering", "Stop")
	p.press("dialog", "Stop the experiment")
	p.shows("#state", "stopped")
	p.clean()
}

// What trials print and are named is text, whatever it is.
func TestHostileTexts(t *testing.T) {
	p := window(t)
	dir := hostile(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/")
	p.harmless()
	p.view("#/x/hostile/trials/0")
	p.press("#output", "stderr")
	p.shows("#output pre", "<script>fail()</script>")
	p.clean()
}

// hostile runs an experiment whose trials fail, with names and texts that are markup.
func hostile(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "trial.sh", `echo '{"<img src=x onerror=fail()>": 0.5}'
echo '<script>fail()</script>' >&2
printf '\033[31m\000\302\205</pre><b onclick=fail()>bold' >&2
exit 1
`)
	write(t, dir, "x.yaml", `version: 1
name: hostile
objective: {metric: "<img src=x onerror=fail()>", mode: max}
trainable: {command: [sh, trial.sh]}
space:
  kind: {choice: ["</script><script>fail()</script>", "javascript:fail()"]}
trials: 2
`)
	_ = command(t, dir, "run", "x.yaml").Run() // its trials fail
	return dir
}

// harmless looks at all views of the hostile experiment: its texts are text.
func (p *page) harmless() {
	p.t.Helper()
	p.shows("#experiments", "hostile")
	for view := range views {
		p.view("#/x/hostile/" + view)
		p.await("document.querySelector('main h1') && !document.querySelector('main .waiting')")
		p.await("!document.querySelector('main img, main script, main b')")
	}
	p.view("#/x/hostile/trials/0")
	p.shows("#parameters", "fail()")
	p.shows("#facts", "<img src=x onerror=fail()>")
	p.shows("#why", "<script>fail()</script>")
}

// Without a valid token there is nothing to see.
func TestWrongToken(t *testing.T) {
	p := window(t)
	server := start(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0")
	right := server.url()
	at, _, _ := strings.Cut(right, "?")
	p.open(at)
	p.shows("main", "a token is needed: open the URL")
	p.open(at + "?token=wrong")
	p.shows("body", "no longer valid")
	p.open(right)
	p.shows("main", "There is no experiment yet")
	p.clean()
}

// B-086: the pages say of a damaged experiment what the command line says, also when it is damaged below an open page.
func TestDamagedExperiment(t *testing.T) {
	p := window(t)
	axe := axeSource(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart")
	p.shows("main", "Learning curves")
	segment := filepath.Join(dir, "results", "quickstart", "journal", "00000000000000000001.tj")
	b, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	b[600] ^= 1
	if err := os.WriteFile(segment, b, 0o600); err != nil {
		t.Fatal(err)
	}
	const said = "00000000000000000001.tj: damaged at byte"
	p.shows(".lost", said)
	p.open(strings.TrimSuffix(server.url(), "/") + "#/")
	p.shows("#experiments", "unreadable")
	p.shows("#experiments", said)
	p.accessible(axe, "unreadable experiments")
	p.view("#/x/quickstart/trials")
	p.shows(".failure", said)
	p.clean()
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
