package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// broken returns [ErrRefused] if values break a constraint, or why that cannot be evaluated.
func (e *Experiment) broken(c Constraint, v expr.Values) error {
	holds, err := c.Program.Bool(v)
	switch {
	case err == nil && holds:
		return nil
	case err == nil:
		return fmt.Errorf("%w: %s", ErrRefused, c.Program.Source())
	case e.undefined(c, v, err):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case e.fault(err) != nil && c.Opaque: // of others the tree has decided
		return &placed{c.Pos, fmt.Errorf("the constraint %w%s", err, e.excepted(c.Program, err, v))}
	}
	return nil
}

// undefined reports whether a constraint that failed with err is false: all its names have values, and it cannot be
// calculated. Over a name without a value it holds. Experiments that began before this was so have no such constraint.
func (e *Experiment) undefined(c Constraint, v expr.Values, err error) bool {
	return e.defined && expr.IsUndefined(err) && !slices.ContainsFunc(c.Program.Uses(), func(name string) bool {
		return !e.has(name, v)
	})
}

// Undefined returns the constraints that are false at a point because they divide by zero there, or are not a number,
// each with the reason. Where another constraint rules the point out, they do not matter.
func (e *Experiment) Undefined(p space.Point) map[Pos]error {
	found := map[Pos]error{}
	v := e.Prune(slices.Clone(p)).values
	for _, c := range e.Constraints {
		holds, err := c.Program.Bool(v)
		switch {
		case err == nil && !holds:
			return nil
		case e.undefined(c, v, err):
			found[c.Pos] = fmt.Errorf("%w where %s", err, e.shown(c.Program.Uses(), v))
		}
	}
	return found
}

// shown is the values of names on one line.
func (e *Experiment) shown(names []string, v expr.Values) string {
	var list []string
	for _, name := range names {
		if !e.has(name, v) {
			list = append(list, name+" does not exist")
			continue
		}
		x, ok := v.Params[name]
		if !ok {
			x = e.scope.Constants[name]
		}
		if x == nil {
			x = "null"
		}
		list = append(list, fmt.Sprintf("%s is %v", name, x))
	}
	return clip(strings.Join(list, " and "))
}

// has reports whether a name has a value.
func (e *Experiment) has(name string, v expr.Values) bool {
	_, constant := e.scope.Constants[name]
	_, known := v.Params[name]
	return constant || known
}
