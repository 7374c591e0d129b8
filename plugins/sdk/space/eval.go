package space

import (
	"math"
	"strconv"
)

// Eval returns the value of the expression at p, a point of s in which parameters that do not
// exist, or are not known yet, are NaN. The expression must be valid for [Space.Validate].
func (e *Expr) Eval(s *Space, p Point) float64 {
	switch e.Op {
	case Const:
		return e.Number
	case Number:
		return s.number(e.Param, p)
	case In:
		return e.in(p)
	case And:
		return e.fold(s, p, 0)
	case Or:
		return e.fold(s, p, 1)
	case If:
		return e.branch(s, p)
	}
	b := 0.0
	if len(e.Args) > 1 { // first: in a sum its last parameter is there, which most steps of a walk lack
		if b = e.Args[1].Eval(s, p); math.IsNaN(b) {
			return b
		}
	}
	a := e.Args[0].Eval(s, p)
	if math.IsNaN(a) {
		return a
	}
	return arithmetic(e.Op, a, b)
}

// number returns the value of parameter i in arithmetic; NaN if the choice is not a number.
func (s *Space) number(i int, p Point) float64 {
	param, x := &s.Params[i], p[i]
	if param.Kind != Choice && param.Kind != Ordinal {
		return x
	}
	if !(x >= 0 && x < float64(len(param.Choices))) {
		return math.NaN()
	}
	return jsonNumber(param.Choices[int(x)])
}

// jsonNumber returns the value of a JSON number, NaN for other JSON.
func jsonNumber(raw []byte) float64 {
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return math.NaN()
	}
	if x, ok := shortInteger(raw); ok {
		return x
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// shortInteger reads a whole number of few digits, without the memory that ParseFloat needs.
func shortInteger(raw []byte) (x float64, ok bool) {
	digits := raw
	if raw[0] == '-' {
		digits = raw[1:]
	}
	if len(digits) == 0 || len(digits) > 15 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		x = 10*x + float64(c-'0')
	}
	if raw[0] == '-' {
		x = -x
	}
	return x, true
}

func (e *Expr) in(p Point) float64 {
	x := p[e.Param]
	if math.IsNaN(x) {
		return x
	}
	for _, k := range e.Set {
		if float64(k) == x {
			return 1
		}
	}
	return 0
}

// fold evaluates And (decided by a 0) and Or (decided by a 1).
func (e *Expr) fold(s *Space, p Point, decides float64) float64 {
	result := 1 - decides
	for _, arg := range e.Args {
		x := arg.Eval(s, p)
		if x == decides {
			return decides
		}
		if math.IsNaN(x) {
			result = x
		}
	}
	return result
}

func (e *Expr) branch(s *Space, p Point) float64 {
	condition := e.Args[0].Eval(s, p)
	switch {
	case math.IsNaN(condition):
		return condition
	case condition == 1:
		return e.Args[1].Eval(s, p)
	}
	return e.Args[2].Eval(s, p)
}

// arithmetic applies the operations whose arguments are not NaN. Operations with one argument
// ignore b.
func arithmetic(op Op, a, b float64) float64 {
	switch op {
	case Neg:
		return -a
	case Not:
		return 1 - a
	case Add:
		return a + b
	case Sub:
		return a - b
	case Mul:
		return a * b
	case Div, IntDiv, Mod:
		return divide(op, a, b)
	}
	return truth(compare(op, a, b))
}

func divide(op Op, a, b float64) float64 {
	switch {
	case b == 0:
		return math.NaN()
	case op == Mod:
		return math.Mod(a, b)
	case op == IntDiv:
		return math.Trunc(a / b)
	}
	return a / b
}

func compare(op Op, a, b float64) bool {
	switch op {
	case Lt:
		return a < b
	case Le:
		return a <= b
	case Gt:
		return a > b
	case Ge:
		return a >= b
	case Eq:
		return a == b
	}
	return a != b
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Active reports whether parameter i exists, given the values before it.
func (s *Space) Active(p Point, i int) bool {
	when := s.Params[i].When
	return when == nil || when.Eval(s, p) == 1
}

// Prune sets the parameters that do not exist to NaN, parents first.
func (s *Space) Prune(p Point) {
	for i := range s.Params {
		if !s.Active(p, i) {
			p[i] = math.NaN()
		}
	}
}

// Holds reports whether p violates no constraint. A constraint on parameters that do not exist
// holds.
func (s *Space) Holds(p Point) bool {
	for _, constraint := range s.Constraints {
		if constraint.Eval(s, p) == 0 {
			return false
		}
	}
	return true
}
