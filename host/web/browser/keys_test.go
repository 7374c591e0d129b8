package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The lines of learning curves, and the dots of other plots, are reached by the keyboard: Tab leads to the plot, arrows
// from trial to trial, and Enter to the page of one.
func TestPlotsByKeyboard(t *testing.T) {
	p := window(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart/overview")
	for _, plot := range []struct{ view, canvas string }{
		{"overview", "#curves canvas"}, {"overview", "#history canvas"}, {"pareto", "#pareto canvas"},
		{"parameters", "#contour canvas"},
	} {
		p.view("#/x/quickstart/" + plot.view)
		p.await(fmt.Sprintf("document.querySelector(%q)?.dataset.drawn > 0", plot.canvas))
		p.await(fmt.Sprintf("document.querySelector(%q).tabIndex === 0", plot.canvas))
		p.run("focus", chromedp.Focus(plot.canvas, chromedp.ByQuery))
		p.run("keys", chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
		p.await(`/^trial 1(:|$)/.test(document.querySelector(".plot [role=status] .tip > div")?.textContent ?? "")`)
		p.run("back", chromedp.KeyEvent(kb.ArrowLeft))
		p.await(`/^trial 0(:|$)/.test(document.querySelector(".plot [role=status] .tip > div")?.textContent ?? "")`)
		// Keys that come before the page is drawn again count, too.
		p.run("at once", chromedp.Evaluate(`for (const key of ["Home", "ArrowRight", "ArrowRight"])
			document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))`, nil))
		p.await(`/^trial 2(:|$)/.test(document.querySelector(".plot [role=status] .tip > div")?.textContent ?? "")`)
		p.run("open", chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.Enter))
		p.await(`location.hash === "#/x/quickstart/trials/11"`)
	}
	p.clean()
}

// So are the parts of the other plots: those of a trial one after the other, and of a comparison each new best value.
func TestOtherPlotsByKeyboard(t *testing.T) {
	p := window(t)
	server := start(t, finished(t), "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart/overview")
	const tip = `(document.querySelector(".plot [role=status] .tip > div")?.textContent ?? "")`
	for _, view := range []string{"timeline", "lineage", "parallel", "compare"} {
		canvas, first := "#"+view+" canvas", "trial 0"
		if view == "compare" {
			p.view("#/compare?of=quickstart,quickstart")
			canvas, first = "#compared canvas", "quickstart"
		} else {
			p.view("#/x/quickstart/" + view)
		}
		p.await(fmt.Sprintf("document.querySelector(%q)?.dataset.drawn > 0", canvas))
		p.await(fmt.Sprintf("document.querySelector(%q).tabIndex === 0", canvas))
		p.run("focus", chromedp.Focus(canvas, chromedp.ByQuery))
		p.run("key", chromedp.KeyEvent(kb.ArrowRight))
		p.await(tip + fmt.Sprintf(".startsWith(%q)", first))
		if view != "compare" {
			p.run("open", chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.Enter))
			p.await(`location.hash === "#/x/quickstart/trials/11"`)
		}
	}
	p.clean()
}

// Keys count while a plot waits to be drawn with other axes, and what they have reached is told and marked anew then.
func TestKeysWhileAPlotChanges(t *testing.T) {
	p := window(t)
	dir := finished(t)
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/quickstart/parameters?a=lr&b=units")
	p.await(`document.querySelector("#contour canvas")?.dataset.drawn > 0`)
	p.await(`document.querySelector("#importance tbody tr") != null`)
	p.run("hold frames", chromedp.Evaluate(`{
		const frame = requestAnimationFrame
		const held = []
		window.requestAnimationFrame = (draw) => held.push(draw)
		window.drawAgain = () => {
			window.requestAnimationFrame = frame
			held.forEach((draw) => frame(draw))
		}
		location.hash = "#/x/quickstart/parameters?a=layers&b=units"
	}`, nil))
	p.await(`/by layers and units/.test(document.querySelector("#contour canvas").ariaLabel)`)
	p.run("focus", chromedp.Focus("#contour canvas", chromedp.ByQuery))
	p.run("keys", chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	told := `(document.querySelector("#contour [role=status] .tip")?.textContent ?? "")`
	p.await(`/^trial 1lr: /.test` + told)
	p.run("draw", chromedp.Evaluate("drawAgain()", nil))
	p.await(`/^trial 1layers: /.test` + told)
	p.clean()
}

// Who leaves a dialog is where they were before it, with a keyboard, too.
func TestFocusAfterADialog(t *testing.T) {
	p := window(t)
	server := start(t, plane(t), "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/plane")
	const opener = `[...document.querySelectorAll(".steer button")].find((b) => b.textContent === "Settings…")`
	for _, leave := range []string{"Cancel", "\x1b"} {
		p.await(opener + "?.ariaDisabled === null")
		p.run("open", chromedp.Evaluate("void ("+opener+".focus(), "+opener+".click())", nil))
		p.await(`document.activeElement.closest("dialog form")`)
		if leave == "Cancel" {
			p.press("dialog", leave)
		} else {
			p.run("leave", chromedp.KeyEvent(leave))
		}
		p.await("!document.querySelector('dialog') && document.activeElement === " + opener)
	}
	p.clean()
}
