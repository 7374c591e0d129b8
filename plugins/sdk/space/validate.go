package space

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// maxDepth is the maximum nesting of expressions.
const maxDepth = 500

// Validate returns an error if the space is invalid, in one line that names the parameter. Every
// receiver of a space calls it once, before anything else.
func (s *Space) Validate() error {
	for i := range s.Params {
		if err := s.validateParam(i); err != nil {
			return fmt.Errorf("parameter %q: %w", s.Params[i].Name, err)
		}
	}
	for i, constraint := range s.Constraints {
		if err := s.validateExpr(constraint, len(s.Params), 0); err != nil {
			return fmt.Errorf("constraint %d: %w", i+1, err)
		}
	}
	return s.validateNames()
}

func (s *Space) validateParam(i int) error {
	p := &s.Params[i]
	if p.When != nil {
		if err := s.validateExpr(p.When, i, 0); err != nil {
			return fmt.Errorf("its condition: %w", err)
		}
	}
	switch p.Kind {
	case Real:
		return p.validateBounds()
	case Int:
		return p.validateInt()
	case Normal:
		return p.validateNormal()
	case Choice, Ordinal:
		return p.validateChoices()
	}
	return fmt.Errorf("kind %d is unknown", p.Kind)
}

func (p *Param) validateBounds() error {
	width := p.High - p.Low
	switch {
	case !finite(p.Low) || !finite(p.High) || !finite(width):
		return fmt.Errorf("bounds %s and %s must be finite, and so must the distance between them", number(p.Low),
			number(p.High))
	case width < 0:
		return fmt.Errorf("the lower bound %s is above the upper bound %s", number(p.Low), number(p.High))
	case p.Log && p.Low <= 0:
		return fmt.Errorf("a logarithmic scale needs a lower bound above 0, not %s", number(p.Low))
	}
	return p.validateStep()
}

func (p *Param) validateStep() error {
	switch {
	case p.Step == 0:
		return nil
	case !(p.Step > 0) || !finite(p.Step):
		return fmt.Errorf("step %s must be a finite number above 0", number(p.Step))
	case p.Low < p.High && nearFloor((p.High-p.Low)/p.Step) < 1:
		return fmt.Errorf("step %s is larger than the range from %s to %s", number(p.Step), number(p.Low),
			number(p.High))
	}
	return p.validateLattice()
}

func (p *Param) validateLattice() error {
	l, _ := p.lattice()
	switch {
	case !(math.Abs(l.first) <= maxExact && math.Abs(l.last) <= maxExact):
		return fmt.Errorf("step %s is too small for the range from %s to %s", number(p.Step), number(p.Low),
			number(p.High))
	case l.first > l.last:
		return fmt.Errorf("there is no multiple of step %s from %s to %s", number(p.Step), number(p.Low),
			number(p.High))
	case p.Log && l.first < 1:
		return fmt.Errorf("a logarithmic scale needs values above 0, and step %s rounds the lower bound %s to 0",
			number(p.Step), number(p.Low))
	}
	return nil
}

func (p *Param) validateInt() error {
	for _, x := range []float64{p.Low, p.High, p.Step} {
		if x != math.Trunc(x) || math.Abs(x) > maxExact {
			return fmt.Errorf("%s is not an integer within ±2^53", number(x))
		}
	}
	return p.validateBounds()
}

func (p *Param) validateNormal() error {
	const far = 10 // standard deviations; no sample is beyond
	switch {
	case p.Log:
		return errors.New("a normal distribution has no logarithmic scale")
	case !(p.SD > 0):
		return fmt.Errorf("the standard deviation %s must be above 0", number(p.SD))
	case !finite(p.Mean-far*p.SD) || !finite(p.Mean+far*p.SD):
		return fmt.Errorf("mean %s and standard deviation %s must be finite, and so must values of that order",
			number(p.Mean), number(p.SD))
	case p.Step != 0 && !(p.Step > 0) || !finite(p.Step):
		return fmt.Errorf("step %s must be a finite number above 0", number(p.Step))
	case p.Step > 0 && (math.Abs(p.Mean)+far*p.SD)/p.Step > maxExact:
		return fmt.Errorf("step %s is too small for mean %s and standard deviation %s", number(p.Step), number(p.Mean),
			number(p.SD))
	}
	return nil
}

func (p *Param) validateChoices() error {
	if len(p.Choices) == 0 {
		return errors.New("there are no choices")
	}
	seen := make(map[string]int, len(p.Choices))
	for i, raw := range p.Choices {
		if !json.Valid(raw) {
			return fmt.Errorf("choice %d is not JSON: %s", i+1, excerpt(raw))
		}
		text := compact(raw)
		if first, again := seen[text]; again {
			return fmt.Errorf("choices %d and %d are both %s", first+1, i+1, excerpt(raw))
		}
		seen[text] = i
	}
	return nil
}

// validateNames checks that names are unique, have no empty parts, and that no name is also a
// group.
func (s *Space) validateNames() error {
	taken := make(map[string]bool, len(s.Params))
	for i := range s.Params {
		name := s.Params[i].Name
		if taken[name] {
			return fmt.Errorf("parameter %q: the name is used twice", name)
		}
		taken[name] = true
	}
	for name := range s.groups() {
		if taken[name] {
			return fmt.Errorf("parameter %q: other parameters are nested below this name", name)
		}
	}
	for i := range s.Params {
		if strings.Contains("/"+s.Params[i].Name+"/", "//") {
			return fmt.Errorf("parameter %q: its name, or a part of it, is empty", s.Params[i].Name)
		}
	}
	return nil
}

func (s *Space) validateExpr(e *Expr, before, depth int) error {
	if e == nil {
		return errors.New("a part of the expression is missing")
	}
	if depth >= maxDepth {
		return fmt.Errorf("the expression is nested more than %d deep", maxDepth)
	}
	if err := s.validateOp(e, before); err != nil {
		return err
	}
	for _, arg := range e.Args {
		if err := s.validateExpr(arg, before, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// validateOp checks one operation, but not its arguments.
func (s *Space) validateOp(e *Expr, before int) error {
	low, high := arity(e.Op)
	switch {
	case e.Op < Const || e.Op > If:
		return fmt.Errorf("operation %d is unknown", e.Op)
	case len(e.Args) < low || len(e.Args) > high:
		return fmt.Errorf("operation %d has %d arguments", e.Op, len(e.Args))
	case e.Op != Number && e.Op != In:
		return nil
	case e.Param < 0 || e.Param >= before:
		return fmt.Errorf("it refers to parameter number %d, and only the %d before it are known there", e.Param+1,
			before)
	case e.Op == In:
		return s.Params[e.Param].validateSet(e.Set)
	}
	return nil
}

// arity returns the minimum and maximum number of arguments of op.
func arity(op Op) (low, high int) {
	switch op {
	case Const, Number, In:
		return 0, 0
	case Neg, Not:
		return 1, 1
	case And, Or:
		return 1, math.MaxInt
	case If:
		return 3, 3
	}
	return 2, 2
}

func (p *Param) validateSet(set []int) error {
	if p.Kind != Choice && p.Kind != Ordinal {
		return fmt.Errorf("parameter %q is not a choice", p.Name)
	}
	for _, k := range set {
		if k < 0 || k >= len(p.Choices) {
			return fmt.Errorf("parameter %q has no choice number %d", p.Name, k+1)
		}
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
