package schedtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Cuts sends the history to a new scheduler in batches of sizes chosen by pick (pick(n) is in
// 0..n-1) and compares all answers with the earlier ones: batches must not matter.
func Cuts(scheduler sdk.Scheduler, h History, pick func(n int) int) error {
	var got sdk.Decisions
	for rest := h.Events; len(rest) > 0; {
		n := 1 + pick(len(rest))
		out, err := scheduler.Decide(context.Background(), rest[:n])
		if err != nil {
			return err
		}
		got.Decisions = append(got.Decisions, out.Decisions...)
		got.Commands = append(got.Commands, out.Commands...)
		rest = rest[n:]
	}
	return same(got, h.Out)
}

func same(got, want sdk.Decisions) error {
	for i := range min(len(got.Decisions), len(want.Decisions)) {
		if got.Decisions[i] != want.Decisions[i] {
			return fmt.Errorf("decision %d is %+v in other batches, was %+v", i, got.Decisions[i], want.Decisions[i])
		}
	}
	if len(got.Decisions) != len(want.Decisions) {
		return fmt.Errorf("%d decisions in other batches, were %d", len(got.Decisions), len(want.Decisions))
	}
	// Compare text, because points may have NaN.
	if got, want := fmt.Sprintf("%+v", got.Commands), fmt.Sprintf("%+v", want.Commands); got != want {
		return fmt.Errorf("commands in other batches are %s, were %s", got, want)
	}
	return nil
}

// WithoutReasons returns the history without the reasons of decisions and commands, for comparing
// with an implementation that gives none.
func (h History) WithoutReasons() History {
	h.Out = sdk.Decisions{Decisions: slices.Clone(h.Out.Decisions), Commands: slices.Clone(h.Out.Commands)}
	for i := range h.Out.Decisions {
		h.Out.Decisions[i].Reason = ""
	}
	for i := range h.Out.Commands {
		h.Out.Commands[i].Reason = ""
	}
	return h
}
