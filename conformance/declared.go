package conformance

import (
	"fmt"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// declared is what the plugin has said of itself to the checks of a run: its description, which is requested once, and
// the traits with which it was opened. A check that they show not to apply does not start the plugin.
type declared struct {
	asking singleflight.Group

	mu     sync.Mutex
	info   *sdk.Info      // nil: not requested yet
	traits map[string]any // by how it was opened
}

// describe returns the plugin's description, and asks for it if nobody has. Checks that want it at the same time
// share one answer, also a failure: a check that waited for another one has no time left to ask.
func (d *declared) describe(ask func() (sdk.Info, error)) (sdk.Info, error) {
	if info := d.known(); info != nil {
		return *info, nil
	}
	answer, err, _ := d.asking.Do("", func() (any, error) {
		info, err := ask()
		if err == nil {
			d.learn(info)
		}
		return info, err
	})
	return answer.(sdk.Info), err
}

func (d *declared) known() *sdk.Info {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.info
}

func (d *declared) learn(info sdk.Info) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.info = &info
}

// A need is a trait without which a check does not apply, and the reason why not.
type need[T any] struct {
	has func(T) bool
	why inapplicable
}

// promises are what a searcher or scheduler declares when it is opened.
type promises struct {
	sdk.Traits
	snapshots bool
}

var snapshots = need[promises]{func(p promises) bool { return p.snapshots }, "it makes no snapshots"}

// about says what a problem of the suite's is, as far as the suite's problems differ.
func about(space string, p sdk.Problem) string {
	return fmt.Sprint(space, len(p.Objectives), p.Trials, p.Concurrency)
}

// opening says how a plugin is opened: traits are the same for the same options and problem.
func (s *subject) opening(problem ...string) string {
	return fmt.Sprintf("%s %q", s.options(), problem)
}

// needed returns an error if the plugin was opened in the same way before and lacks a need.
func needed[T any](s *subject, opening string, needs []need[T]) error {
	s.declared.mu.Lock()
	defer s.declared.mu.Unlock()
	if traits, ok := s.declared.traits[opening].(T); ok {
		return lacking(traits, needs)
	}
	return nil
}

// declares notes the traits with which the plugin was opened; the error is for a need that it lacks.
func declares[T any](s *subject, opening string, traits T, needs []need[T]) error {
	s.declared.mu.Lock()
	defer s.declared.mu.Unlock()
	if s.declared.traits == nil {
		s.declared.traits = map[string]any{}
	}
	s.declared.traits[opening] = traits
	return lacking(traits, needs)
}

func lacking[T any](traits T, needs []need[T]) error {
	for _, n := range needs {
		if !n.has(traits) {
			return n.why
		}
	}
	return nil
}
