package main

import (
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/view"
)

// tellers write values of parameters, by their names, such that different choices look different.
type tellers map[string]func(v any) string

func tellersOf(e *view.Experiment) tellers {
	all := tellers{}
	for i := range e.Config.Space.Params {
		p := &e.Config.Space.Params[i]
		all[p.Name] = naming.Teller(p.Choices)
	}
	return all
}

// text writes a value short enough for a table.
func (t tellers) text(name string, v any) string {
	if told := t[name]; told != nil {
		return told(v)
	}
	return naming.Brief(v)
}

// copyable is a value in full: with it the trial can be repeated.
func (t tellers) copyable(name string, v any) string {
	if x, ok := v.(float64); ok {
		return exact(x)
	}
	return t.text(name, v)
}

// change writes two different values, with all digits of numbers that look alike.
func (t tellers) change(name string, old, now any) string {
	from, to := t.text(name, old), t.text(name, now)
	if from == to {
		from, to = t.copyable(name, old), t.copyable(name, now)
	}
	return from + "→" + to
}
