// Package guard calls the code of a plugin's author in the way that every transport needs: it
// allows one call at a time, turns panics into errors, applies given coordinates to suggestions,
// and checks the shape of answers.
//
// It is for implementations of transports (sdk/serve and the host's in-process loader), not for
// authors.
package guard

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// A PanicError is a panic in an author's code.
type PanicError struct {
	Call  string // the name of the call, such as "Suggest"
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	text := fmt.Sprintf("panic in %s: %v", e.Call, e.Value)
	if _, place := Frames(e.Stack); place != "" {
		text += " (" + place + ")"
	}
	return text
}

// protect calls f and turns a panic into a *PanicError.
func protect(call string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Call: call, Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}

// open calls an author's Open, which must return a plugin or an error.
func open[P, Traits any](call func() (P, Traits, error)) (plugin P, traits Traits, err error) {
	err = protect("Open", func() (err error) {
		plugin, traits, err = call()
		return err
	})
	if err == nil && any(plugin) == nil {
		err = errNothing
	}
	return plugin, traits, err
}

// errNothing is returned if Open returns neither a plugin nor an error.
var errNothing = errors.New("the plugin's Open returned neither a plugin nor an error, which is a bug of the plugin")

// options replaces missing options by an empty object.
func options(o []byte) []byte {
	if len(o) == 0 {
		return []byte("{}")
	}
	return o
}

// restore passes a snapshot to a plugin that supports snapshots.
func restore(plugin any, snapshot []byte) error {
	if len(snapshot) == 0 {
		return nil
	}
	s, ok := plugin.(sdk.Snapshotter)
	if !ok {
		return errors.New("a snapshot was given to a plugin that does not support snapshots")
	}
	return protect("Restore", func() error { return s.Restore(snapshot) })
}

// snapshot requests a snapshot from a plugin that supports snapshots.
func snapshot(plugin any) (state []byte, err error) {
	s, ok := plugin.(sdk.Snapshotter)
	if !ok {
		return nil, errors.New("the plugin does not support snapshots")
	}
	err = protect("Snapshot", func() (err error) {
		state, err = s.Snapshot()
		return err
	})
	return state, err
}

// OpenTrainable opens a trainable.
func OpenTrainable(p sdk.TrainablePlugin, opts []byte) (t sdk.Trainable, traits sdk.TrainableTraits, err error) {
	t, traits, err = open(func() (sdk.Trainable, sdk.TrainableTraits, error) { return p.Open(options(opts)) })
	_, traits.Requests = t.(sdk.Requester)
	return t, traits, err
}

// Request asks a trainable for the resource request of a trial with the parameters.
func Request(t sdk.Trainable, params []byte) (resources []byte, err error) {
	r, ok := t.(sdk.Requester)
	if !ok {
		return nil, errors.New("the trainable does not compute resource requests")
	}
	err = protect("Request", func() (err error) {
		resources, err = r.Request(params)
		return err
	})
	return resources, err
}

// Describe returns a plugin's Info with its kind set.
func Describe(i sdk.Info, k sdk.Kind) sdk.Info {
	i.Kind = k
	i.Summary = strings.TrimSpace(i.Summary)
	return i
}
