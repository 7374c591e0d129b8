package view

import "github.com/tunehost/tunehost/host/plugin/lockfile"

// Plugin is a plugin of an experiment, as tunehost.lock has it.
type Plugin = lockfile.Plugin

// Plugins returns the plugins that the experiment uses, from tunehost.lock; none if the experiment is
// only in memory.
func (e *Experiment) Plugins() ([]Plugin, error) {
	lock, err := lockfile.Read(e.Dir)
	if err != nil || lock == nil {
		return nil, err
	}
	return lock.Plugins, nil
}
