package main

import (
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/view"
)

// tellers write values of parameters, by their names, such that different choices look different.
type tellers struct{ naming.Tellers }

func tellersOf(e *view.Experiment) tellers { return tellers{naming.TellersOf(e.Config)} }

// copyable is a value in full: with it the trial can be repeated.
func (t tellers) copyable(name string, v any) string {
	if x, ok := v.(float64); ok {
		return config.FormatReal(x)
	}
	return t.Text(name, v)
}

// change writes two different values, with all digits of numbers that look alike.
func (t tellers) change(name string, old, now any) string {
	from, to := t.Text(name, old), t.Text(name, now)
	if from == to {
		from, to = t.copyable(name, old), t.copyable(name, now)
	}
	return from + "→" + to
}
