package view_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

const conditional = `version: 1
objective: {metric: accuracy, mode: max}
space: {kind: {choice: [a, b]}, lr: {uniform: [0, 1], when: kind == "a"}}
trials: 20
`

// Importance says why its shares are shaky: few best trials, values of stopped ones, parameters that some lack.
func TestCautions(t *testing.T) {
	w := write(t, conditional)
	w.Iterations = 4
	w.Start(20)
	w.Run(1)
	for no := range core.TrialNo(15) {
		w.Event(&core.StopRequested{Trial: no})
	}
	w.Run(-1)
	w.Close()
	e := open(t, w)
	shares, n, err := e.Importance(view.Query{}, 0.1)
	if err != nil || n != 20 {
		t.Fatalf("%d trials, %v", n, err)
	}
	without := 0
	for no := range core.TrialNo(20) {
		if e.Config.Values(e.Trial(no).Params)["lr"] == nil {
			without++
		}
	}
	i := slices.IndexFunc(shares, func(s view.Share) bool { return s.Param == "lr" })
	if without == 0 || shares[i].Without != without {
		t.Errorf("%d trials lack lr, want %d", shares[i].Without, without)
	}
	for top, want := range map[float64]int{0.1: 3, 0.6: 2} {
		list, err := e.Cautions(view.Query{}, top, shares)
		if err != nil || len(list) != want ||
			!slices.Contains(list, "15 of 20 values are of trials that were stopped early") {
			t.Errorf("top %g: %q, %v", top, list, err)
		}
	}
}

// Of many parameters some differ among few trials by chance: then there are no shares, and the number that is needed.
func TestImportanceNeedsTrialsForEachParameter(t *testing.T) {
	for params, want := range map[int]int{1: 10, 4: 10, 12: 24} {
		text := "version: 1\nobjective: {metric: accuracy, mode: max}\ntrials: 20\nspace:\n"
		for i := range params {
			text += fmt.Sprintf("  p%d: {uniform: [0, 1]}\n", i)
		}
		w := write(t, text)
		w.Start(20)
		w.Run(-1)
		w.Close()
		e := open(t, w)
		shares, n, err := e.Importance(view.Query{}, 0.1)
		if err != nil || n != 20 || (shares == nil) != (want > n) || e.NeededForImportance() != want {
			t.Errorf("%d parameters: %d shares from %d trials, needs %d, %v", params, len(shares), n,
				e.NeededForImportance(), err)
		}
	}
}
