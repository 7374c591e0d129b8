package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// metered runs an experiment with twelve metrics, one of which is NaN at times. A metric has the name of a parameter.
func metered(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "trial.sh", `line='{"a": '$1', "n": 7'
for i in 1 2 3 4 5 6 7 8 9; do line="$line, \"m$i\": $(($i * (3 - $1)))"; done
if [ $1 = 1 ]; then worst=NaN; else worst=0.5; fi
echo "$line, \"w\": $worst}"
`)
	write(t, dir, "x.yaml", `version: 1
name: metered
objective: {metric: a, mode: max}
trainable: {command: [sh, trial.sh, "{n}"]}
space:
  n: {grid: [0, 1, 2]}
  kind: {choice: [x]}
trials: 1
`)
	if out, err := command(t, dir, "run", "x.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// heads are the columns of the table of trials, and cells the texts below one of them.
const heads = `[...document.querySelectorAll(".grid .th > *")].map((h) => h.title).join()`

func cells(head string) string {
	return fmt.Sprintf(`(() => {
		const at = [...document.querySelectorAll(".grid .th > *")].findIndex((h) => h.title === %q);
		return [...document.querySelectorAll(".rows .tr")].map((r) => r.children[at]?.textContent).join();
	})()`, head)
}

// Any metric, parameter and fact of a trial can be a column of the list, which is sorted by it; the address keeps the
// choice.
func TestAnyColumn(t *testing.T) {
	p := window(t)
	axe := axeSource(t)
	server := start(t, metered(t), "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/metered/trials")
	p.await(heads + ` === "#,state,why,a,m1,m2,m3,m4,m5,m6,m7,iteration,time,n,kind"`)
	p.shows("#columns summary", "14 of 28 are shown")
	p.tick("m9")
	p.tick("attempts")
	p.tick("node")
	p.tick("cause")
	p.tick("metrics: n")
	p.tick("m1")
	p.await(heads + ` === "#,state,why,a,m2,m3,m4,m5,m6,m7,m9,n,iteration,time,attempts,node,cause,n,kind"`)
	p.await(cells("m9") + ` === "27,18,9"`)
	p.await(cells("attempts") + ` === "1,1,1"`)
	p.await(cells("cause") + ` === "completed,completed,completed"`)
	p.press(".grid .th", "m9")
	p.await(cells("#") + `.replaceAll(" ★the best", "") === "2,1,0"`)
	p.accessible(axe, "chosen columns")
	p.run("reload", chromedp.Reload())
	p.await(cells("m9") + ` === "9,18,27"`)
	p.view("#/x/metered/trials?columns=files,started,ended,id,checkpoint,failures,results")
	p.await(heads + ` === "#,files,started,ended,id,checkpoint,failures,results"`)
	p.await("!/undefined|–/.test(" + cells("ended") + ")")
	p.await(cells("results") + ` === "1,1,1"`)
	p.press("#columns", "as at first")
	p.await(`!location.hash.includes("columns") && ` + heads + `.startsWith("#,state,why,a,m1")`)
	p.clean()
}

// tick changes the box of a column.
func (p *page) tick(id string) {
	p.t.Helper()
	box := fmt.Sprintf(`document.querySelector("#columns").open = true,
		document.querySelector('#columns input[name="%s"]')`, id)
	p.await(box)
	p.run("tick "+id, chromedp.Evaluate("void ("+box+").click()", nil))
}

// What is no number is whole in its column, beside short numbers, too.
func TestNaNIsWhole(t *testing.T) {
	p := window(t)
	server := start(t, metered(t), "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/metered/trials?columns=w,a")
	p.await(cells("w") + ` === "0.5,NaN,0.5"`)
	p.await(`[...document.querySelectorAll(".rows .num")].every((c) => c.scrollWidth <= c.clientWidth)`)
	p.await(`(() => {
		const cell = [...document.querySelectorAll(".rows .num")].find((c) => c.textContent === "NaN");
		const text = document.createRange();
		text.selectNodeContents(cell);
		const [inner, outer] = [text.getBoundingClientRect(), cell.getBoundingClientRect()];
		const { paddingLeft, paddingRight } = getComputedStyle(cell);
		return inner.left >= outer.left + parseFloat(paddingLeft) - 1 &&
			inner.right <= outer.right - parseFloat(paddingRight) + 1;
	})()`)
	p.clean()
}
