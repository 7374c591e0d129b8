package layered

import (
	"cmp"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// merge builds the answer layer by layer: one decision for each result.
type merge struct {
	merged   []sdk.Decision
	trials   []uint32 // of each decision
	commands []sdk.Command
}

func newMerge(events []sdk.Event) *merge {
	m := &merge{}
	for i := range events {
		if e := &events[i]; e.Kind == sdk.ResultReported {
			m.merged, m.trials = append(m.merged, sdk.Decision{Event: e.Number}), append(m.trials, e.Trial)
		}
	}
	return m
}

// decisions adds a layer's decisions: a stronger verdict replaces a weaker one.
func (m *merge) decisions(l *Layer, list []sdk.Decision) {
	for _, d := range list {
		i, ok := slices.BinarySearchFunc(m.merged, d.Event,
			func(x sdk.Decision, event uint64) int { return cmp.Compare(x.Event, event) })
		if !ok {
			continue // the guard of the plugin has refused it
		}
		l.decided(m.trials[i], d)
		if d.Verdict > m.merged[i].Verdict {
			m.merged[i].Verdict, m.merged[i].Reason = d.Verdict, d.Reason
		}
	}
}
