package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// focused is the control that has the focus, by its label or its text.
const focused = `(document.activeElement.ariaLabel ?? document.activeElement.textContent)`

// keyOn gives a control the focus, and presses a key there.
func (p *page) keyOn(find, key string) {
	p.t.Helper()
	p.await(find)
	p.run("focus "+find, chromedp.Evaluate("void ("+find+").focus()", nil))
	p.run("key", chromedp.KeyEvent(key))
}

// button finds a button or link whose text or label begins so.
func button(text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("main button, main a")].find((b) => `+
		`(b.ariaLabel ?? b.textContent).startsWith(%q))`, text)
}

// A control that changes what its page shows keeps the focus, or the one that takes its place has it: the next key is
// meant for it.
func TestFocusStays(t *testing.T) {
	p := window(t)
	server := start(t, finished(t), "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart/trials")
	for _, sort := range []string{"sort=iteration", "sort=-iteration"} {
		p.keyOn(button("iteration"), kb.Enter)
		p.await(fmt.Sprintf(`location.hash.includes(%q) && document.querySelector(".rows .tr a")`, sort))
		p.await(focused + `.startsWith("iteration")`)
	}

	p.view("#/x/quickstart/overview")
	p.keyOn(`document.querySelector("#curves select")`, kb.ArrowDown)
	p.await(`/^loss of /.test(document.querySelector("#curves canvas")?.ariaLabel)`)
	p.run("once more", chromedp.KeyEvent(kb.ArrowDown))
	p.await(`/^train_loss of /.test(document.querySelector("#curves canvas")?.ariaLabel)`)
	p.await(`document.activeElement.matches("#curves select")`)

	p.view("#/x/quickstart/journal?after=-5")
	p.keyOn(button("← earlier"), kb.Enter)
	p.await(`/^Events 1 /.test(document.querySelector("#journal h2")?.textContent)`)
	p.await(focused + ` === "← earlier"`)

	p.view("#/x/quickstart/trials/1")
	p.keyOn(button("2 →"), kb.Enter)
	p.await(`document.querySelector("#facts") && ` + focused + ` === "3 →"`)

	p.view("#/x/quickstart/parallel")
	p.keyOn(button("hide layers"), kb.Enter)
	p.await(focused + ` === "+ layers"`)
	p.run("show it", chromedp.KeyEvent(kb.Enter))
	p.await(focused + ` === "hide layers"`)
	p.clean()
}

// Who pauses and continues an experiment with the keyboard stays on the button, whatever it is called next, and hears
// what came of it, however soon that is.
func TestFocusWhilePausing(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "x.yaml", `version: 1
name: forgetful
objective: {metric: a, mode: max}
trainable: {command: [sh, -c, 'while :; do echo "{\"a\": 1}"; sleep 0.2; done']}
space: {n: {uniform: [0, 1]}}
trials: 1
`)
	start(t, dir, "run", "x.yaml").screen.Await(t, "running")
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/forgetful")
	p.await(`document.querySelector("#curves canvas")`)
	p.keyOn(button("❚❚ Pause"), kb.Enter)
	p.await(`document.activeElement.closest("dialog")`)
	p.run("leave", chromedp.KeyEvent(kb.Escape))
	p.await(`!document.querySelector("dialog") && ` + focused + ` === "❚❚ Pause"`)
	p.run("once more", chromedp.KeyEvent(kb.Enter))
	p.press("dialog", "Pause anyway")
	p.await(focused + ` === "▶ Continue"`)
	p.shows(".steering [role=status]", "experiment paused")
	p.run("continue", chromedp.KeyEvent(kb.Enter))
	p.await(focused + ` === "❚❚ Pause"`)
	p.shows(".steering [role=status]", "experiment running")
	p.clean()
}
