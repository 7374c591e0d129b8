package examine

import (
	"errors"
	"path/filepath"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/loading"
	"github.com/tunehost/tunehost/host/validate"
)

// Settings examines experiments with settings that are about to change. It implements steer.Checks.
type Settings struct{ Plugins *bundled.Registry }

// Check finds mistakes in the names and options of plugins without starting any.
func (s Settings) Check(e *config.Experiment) error {
	l, err := loading.New(s.Plugins, e, filepath.Dir(e.File))
	if err != nil {
		return err
	}
	return errors.Join(l.Check(loading.Uses(e))...)
}

// Doubts are the warnings of `tunehost validate` that need no look at the machine.
func (s Settings) Doubts(e *config.Experiment, manual bool) []*config.Error {
	return validate.Doubts(&options.Options{Plugins: s.Plugins, Mode: options.Mode{Manual: manual}}, e)
}
