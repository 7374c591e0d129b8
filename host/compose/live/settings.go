package live

import (
	"slices"
	"sync"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/validate"
)

// settings change what an experiment is beside its record while it runs.
type settings struct {
	host *Host
	mu   sync.Mutex // guards the setup's file
}

var _ steer.Settings = (*settings)(nil)

// With implements steer.Settings.
func (x *settings) With(sets []string) (*config.Experiment, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.file(sets).Parse(x.host.Setup.Plan.Experiment.Source)
}

// Doubts implements steer.Settings.
func (x *settings) Doubts(e *config.Experiment) []*config.Error {
	return validate.Doubts(&x.host.Setup.Options, e)
}

// file is run.json with more settings.
func (x *settings) file(sets []string) *runfile.File {
	return x.host.Setup.File.Set(sets, x.host.Setup.Options.Clock.Now())
}

// Keep implements steer.Settings.
func (x *settings) Keep(sets []string, now *config.Experiment) (core.Spec, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	spec, err := x.host.Spec(now, x.host.Rules)
	if err != nil {
		return spec, err
	}
	b, file := x.host.Setup, x.file(sets)
	text, err := file.Text()
	if err == nil {
		err = b.Rewrite(runfile.Path(b.Dir), text)
	}
	if err == nil {
		b.File.Overrides, b.File.Extensions = slices.Clone(file.Overrides), slices.Clone(file.Extensions)
	}
	return spec, err
}
