package browser

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// recordedTrials is how many trials the list must be able to show.
const recordedTrials = 100_000

// The list of 100,000 trials shows the right rows after a far jump, in any order, and holds only those that are seen.
func TestManyTrials(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	w := viewtest.New(filepath.Join(dir, "results", "large"), fmt.Appendf(nil, `version: 1
name: large
objective: {metric: accuracy, mode: max}
space: {lr: {loguniform: [1e-5, 1]}}
trials: %d
trainable: {command: [train]}
`, recordedTrials), 1)
	w.Iterations, w.Metrics = 1, func(no core.TrialNo, _ uint64) []float64 {
		v := float64(uint64(no)*2654435761%recordedTrials) / recordedTrials
		return []float64{v, 1 - v}
	}
	w.Start(256)
	w.Run(-1)
	w.Close()
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/large/trials")
	p.shows("#found", "100,000 trials")
	for _, sort := range []string{"", "accuracy", "-lr"} {
		p.view("#/x/large/trials?sort=" + sort)
		p.shows("#found", "100,000 trials")
		for _, row := range []int{recordedTrials - 1, recordedTrials / 2, 12_345, 0} {
			p.jumped(t, dir, sort, row)
		}
	}
	p.clean()
}

// jumped scrolls to a row at once, and compares it with what the command prints.
func (p *page) jumped(t *testing.T, dir, sort string, row int) {
	t.Helper()
	args := []string{"trials", "results/large", "--offset", fmt.Sprint(row), "--limit", "1"}
	if sort != "" {
		args = append(args, "--sort="+sort)
	}
	want := answers[struct {
		Number  int                `json:"number"`
		Metrics map[string]float64 `json:"metrics"`
	}](t, dir, args...)[0]
	p.run(fmt.Sprint("jump to row ", row), chromedp.Evaluate(fmt.Sprintf(
		`void (document.querySelector(".grid").scrollTop = %d)`, 30*max(0, row-3)), nil))
	p.await(fmt.Sprintf(`(() => {
		const heads = [...document.querySelectorAll(".grid .th > *")].map((h) => h.title);
		const row = document.querySelector('.rows [aria-rowindex="%d"]');
		const box = document.querySelector(".grid").getBoundingClientRect(), at = row?.getBoundingClientRect();
		return row && at.top >= box.top && at.bottom <= box.bottom &&
			row.querySelector("a")?.textContent === "%d" &&
			Number(row.children[heads.indexOf("accuracy")].textContent) === %v;
	})()`, row+2, want.Number, want.Metrics["accuracy"]))
	p.await(`document.querySelectorAll(".rows .tr").length < 100`)
}
