package layered

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// state is the state of one layer. It follows from the events and the answers of the layer, so that
// sending all events again to a restarted layer restores it.
type state struct {
	// Until is the iteration from which on the layer wants to decide on a trial.
	Until map[uint32]uint64
	// Holds are the trials that the layer has paused and not resumed.
	Holds map[uint32]bool
}

// receive returns the events that the layer receives: all except results that it does not want to decide on.
func (l *Layer) receive(events []sdk.Event) (heard []sdk.Event) {
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case sdk.ResultReported:
			traits := l.Traits()
			if traits.Quiet || e.Again && !traits.Again || e.Iteration < l.Until[e.Trial] {
				continue
			}
		case sdk.TrialStarted, sdk.TrialCompleted, sdk.TrialFailed, sdk.TrialRemoved:
			delete(l.Holds, e.Trial) // the pause did not happen, or is over
		}
		heard = append(heard, *e)
	}
	return heard
}

func (l *Layer) decided(trial uint32, d sdk.Decision) {
	if l.Until == nil {
		l.Until, l.Holds = map[uint32]uint64{}, map[uint32]bool{}
	}
	if d.Until > 0 {
		l.Until[trial] = d.Until
	}
	if d.Verdict == sdk.Pause {
		l.Holds[trial] = true
	}
}

// Snapshots reports whether all layers make snapshots.
func (s *Scheduler) Snapshots() bool {
	for _, l := range s.layers {
		if !l.Scheduler.Snapshots() {
			return false
		}
	}
	return true
}

// saved is one layer in a snapshot.
type saved struct {
	State  state
	Plugin []byte
}

// Snapshot returns the snapshots and states of all layers.
func (s *Scheduler) Snapshot(ctx context.Context) ([]byte, error) {
	list := make([]saved, len(s.layers))
	for i, l := range s.layers {
		snapshot, err := l.Scheduler.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		list[i] = saved{l.state, snapshot}
	}
	return json.Marshal(list)
}

// Parts splits a snapshot of n layers; an empty snapshot has no parts. A snapshot of other layers is
// an error.
func Parts(snapshot []byte, n int) (Snapshot, error) {
	list := make([]saved, n)
	if len(snapshot) == 0 {
		return list, nil
	}
	err := json.Unmarshal(snapshot, &list)
	if err == nil && len(list) != n {
		err = fmt.Errorf("a snapshot of %d schedulers, expected one of %d", len(list), n)
	}
	return list, err
}

// Snapshot is a split snapshot.
type Snapshot []saved

// Plugin returns the snapshot that layer i is opened with.
func (s Snapshot) Plugin(i int) []byte { return s[i].Plugin }

// Restore restores the state of layer i.
func (s Snapshot) Restore(i int, l *Layer) { l.state = s[i].State }
