package view

import "github.com/tunehost/tunehost/host/lockfile"

// Plugins are those that the experiment uses, as its host has found them: what
// tunehost.lock has. There are none where the experiment is in memory alone.
func (e *Experiment) Plugins() ([]lockfile.Plugin, error) {
	lock, err := lockfile.Read(e.Dir)
	if err != nil || lock == nil {
		return nil, err
	}
	return lock.Plugins, nil
}
