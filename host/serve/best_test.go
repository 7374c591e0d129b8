package serve_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// B-141: with several objectives the answer has all trials that `best --json` prints.
func TestBestOfSeveralObjectives(t *testing.T) {
	root := t.TempDir()
	text := strings.Replace(source, "objective: {metric: accuracy, mode: max}",
		"objectives: [{metric: accuracy, mode: max}, {metric: loss, mode: min}]", 1)
	w := viewtest.New(filepath.Join(root, "digits"), []byte(text), 7)
	w.Metrics = func(no core.TrialNo, _ uint64) []float64 { return []float64{float64(no), float64(max(no, 4))} }
	w.Start(4)
	w.Run(-1)
	w.Close()
	c := serving(t, root)
	e, err := view.Open(filepath.Join(root, "digits"))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	front, err := e.Front(view.Last)
	if err != nil || len(front) != 8 {
		t.Fatalf("the front has %d trials: %v", len(front), err)
	}
	type best struct {
		Number int
		Front  []struct{ Number core.TrialNo }
	}
	got := read[best](c, "/digits/best")
	if got.Number != 11 || len(got.Front) != 8 || got.Front[0].Number != front[0].Number {
		t.Errorf("%+v, want the front of %d trials", got, len(front))
	}
	if got := read[best](c, "/digits/best?metric=loss"); got.Front != nil {
		t.Errorf("of one metric: %+v", got)
	}
	if a, text := c.send("GET", "/digits/best?mode=min", ""); a.StatusCode != 422 ||
		!strings.Contains(text, "each objective has its own") {
		t.Errorf("a mode for a front: %s %s", a.Status, text)
	}
}
