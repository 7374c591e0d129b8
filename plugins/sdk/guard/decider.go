package guard

import (
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// decider is what an opened searcher and an opened scheduler have in common.
type decider[P any] struct {
	mu     sync.Mutex
	impl   P
	traits sdk.Traits
	dims   int // of the space
}

func (d *decider[P]) open(problem sdk.Problem, snapshot []byte, plugin func() (P, sdk.Traits, error)) (err error) {
	d.dims = len(problem.Space.Params)
	if d.impl, d.traits, err = open(plugin); err != nil {
		return err
	}
	return restore(d.impl, snapshot)
}

// Traits returns the traits that Open returned.
func (d *decider[P]) Traits() sdk.Traits { return d.traits }

// Snapshots reports whether the plugin supports snapshots.
func (d *decider[P]) Snapshots() bool {
	_, ok := any(d.impl).(sdk.Snapshotter)
	return ok
}

// Snapshot returns the plugin's state.
func (d *decider[P]) Snapshot() ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return snapshot(d.impl)
}
