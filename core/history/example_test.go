package history_test

import (
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
)

// Example prints the results of an experiment and its final state.
func Example() {
	h, err := history.Open("../../cmd/tunehost/testdata/released/v1/simple/journal")
	if err != nil {
		panic(err)
	}
	defer h.Close()
	err = h.Each(func(s *history.Step) error {
		for o := range s.Observations(core.ToReporters) {
			if o.Kind == core.SawCompleted {
				fmt.Println("trial", o.Trial, "ended with iteration", s.Machine.View(o.Trial).Iteration)
			}
		}
		return nil
	})
	outcome, _ := h.Machine().Outcome()
	fmt.Println(h.Machine().Trials(), "trials,", outcome, err)
	// Output:
	// trial 1 ended with iteration 1
	// trial 0 ended with iteration 1
	// trial 3 ended with iteration 1
	// trial 2 ended with iteration 1
	// 4 trials, finished <nil>
}
