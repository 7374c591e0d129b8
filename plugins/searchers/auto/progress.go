package auto

import (
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/searchers/internal/fidelity"
)

// progress counts the trials that the searchers can learn from: those that failed, and those that
// ended or paused with losses that can be compared with others.
type progress struct {
	place  map[uint32]int
	trials *fidelity.Trials
	// told are the trials with a result.
	told          map[int]bool
	added, failed int
}

func newProgress(params int) *progress {
	return &progress{place: map[uint32]int{}, trials: fidelity.New(params + 3), told: map[int]bool{}}
}

// observe processes one event.
func (p *progress) observe(e *sdk.Event) {
	if e.Kind == sdk.TrialAdded {
		if _, again := p.place[e.Trial]; !again {
			p.place[e.Trial] = p.added
			p.added++
			p.trials.Add()
		}
		return
	}
	i, known := p.place[e.Trial]
	if !known {
		return
	}
	if len(e.Losses) > 0 {
		p.told[i] = true
		p.trials.Report(i, e.Iteration, slices.Clone(e.Losses))
	}
	switch e.Kind {
	case sdk.TrialFailed:
		p.failed++
		delete(p.place, e.Trial)
	case sdk.TrialCompleted:
		p.trials.End(i, false)
	case sdk.TrialPaused, sdk.TrialRemoved:
		if p.told[i] {
			p.trials.End(i, e.Kind == sdk.TrialPaused)
		}
	}
}

// ended returns how many trials count, and whether others were stopped before.
func (p *progress) ended() (trials int, stopping bool) {
	compared, stopped := p.trials.Ended()
	return compared + p.failed, stopped > 0
}
