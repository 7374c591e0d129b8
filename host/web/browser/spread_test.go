package browser

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/view/viewtest"
)

// The timeline of more trials than it can show has some from its beginning to its end, and says so.
func TestTimelineOfManyTrials(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	w := viewtest.New(filepath.Join(dir, "results", "many"), []byte(`version: 1
name: many
objective: {metric: accuracy, mode: max}
space: {lr: {loguniform: [1e-5, 1]}}
trials: 1500
trainable: {command: [train]}
`), 1)
	w.Iterations = 1
	w.Start(4)
	w.Run(-1)
	w.Close()
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/many/timeline")
	p.shows("#timeline", "1,000 of 1,500 trials, evenly spread, over")
	if text := p.text("#timeline"); !strings.Contains(text, "a trial that is not shown may have run") {
		t.Error(text)
	}
	p.await(`(() => {
		const c = document.querySelector("#timeline canvas");
		if (!(c.dataset.drawn > 0)) return false;
		const [x, y] = [c.width * 0.9, 18 * devicePixelRatio].map(Math.round);
		const end = c.getContext("2d").getImageData(x, y, 40, 1).data;
		return end.some((v, i) => i % 4 === 2 && v > end[i - 2] + 80); // the blue of bars
	})()`)
	p.clean()
}
