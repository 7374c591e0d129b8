package space

import (
	"math"
	"slices"
)

// A span is what an expression may be while some parameters have no value yet: a number from low to high, or unknown.
type span struct {
	low, high float64
	unknown   bool
}

// anything is what nothing is known of.
var anything = span{math.Inf(-1), math.Inf(1), true}

func exactly(x float64) span {
	if math.IsNaN(x) {
		return anything
	}
	return span{low: x, high: x}
}

// span returns what the values of p may be where it exists.
func (p *Param) span() span {
	switch {
	case p.Kind == Choice || p.Kind == Ordinal:
		return p.choiceSpan()
	case p.Open || p.Kind == Normal:
		return span{low: math.Inf(-1), high: math.Inf(1)}
	}
	return span{low: p.Low, high: p.High}
}

func (p *Param) choiceSpan() span {
	return around(p.numbers()...)
}

// numbers returns the numbers of choices; NaN: it is none.
func (p *Param) numbers() (list []float64) {
	for _, raw := range p.Choices {
		list = append(list, jsonNumber(raw))
	}
	return list
}

// ranges has what the parameters of a space may be, and the numbers of their choices.
type ranges struct {
	spans   []span
	numbers [][]float64
}

func newRanges(s *Space) *ranges {
	r := &ranges{}
	for i := range s.Params {
		r.spans = append(r.spans, s.Params[i].span())
		r.numbers = append(r.numbers, s.Params[i].numbers())
	}
	return r
}

// A spanner knows what parameters may be: their coordinates, and their numbers.
type spanner interface {
	// coordinate is NaN where it is not known.
	coordinate(param int) float64
	// exists reports whether the parameter is known to exist.
	exists(param int) bool
}

// within returns what e may be.
func (r *ranges) within(e *Expr, of spanner) span {
	switch e.Op {
	case Const:
		return exactly(e.Number)
	case Number, In:
		return r.paramWithin(e, of)
	case And, Or:
		return r.foldWithin(e, of)
	case If:
		return r.branchWithin(e, of)
	}
	a, b := r.within(e.Args[0], of), span{}
	if len(e.Args) > 1 {
		b = r.within(e.Args[1], of)
	}
	x := calculated(e.Op, a, b)
	x.unknown = x.unknown || a.unknown || b.unknown
	return x
}

func (r *ranges) paramWithin(e *Expr, of spanner) span {
	x, numbers := of.coordinate(e.Param), r.numbers[e.Param]
	out := span{low: 0, high: 1}
	switch known := !math.IsNaN(x); {
	case known && e.Op == In:
		out = exactly(truth(slices.Contains(e.Set, int(x))))
	case known && len(numbers) == 0:
		out = exactly(x)
	case known:
		out = exactly(numbers[int(x)])
	case e.Op == Number:
		out = r.spans[e.Param]
	}
	out.unknown = out.unknown || !of.exists(e.Param)
	return out
}

// foldWithin is the span of And, which is the least of its arguments, and of Or, which is the greatest.
func (r *ranges) foldWithin(e *Expr, of spanner) span {
	least, decides := math.Min, 0.0
	if e.Op == Or {
		least, decides = math.Max, 1
	}
	out := exactly(1 - decides)
	for _, arg := range e.Args {
		x := r.within(arg, of)
		if x == exactly(decides) {
			return x
		}
		out = span{least(out.low, x.low), least(out.high, x.high), out.unknown || x.unknown}
	}
	return out
}

func (r *ranges) branchWithin(e *Expr, of spanner) span {
	condition := r.within(e.Args[0], of)
	switch condition {
	case exactly(1):
		return r.within(e.Args[1], of)
	case exactly(0):
		return r.within(e.Args[2], of)
	}
	a, b := r.within(e.Args[1], of), r.within(e.Args[2], of)
	return span{math.Min(a.low, b.low), math.Max(a.high, b.high), a.unknown || b.unknown || condition.unknown}
}

// calculated applies an operation to all numbers of spans.
func calculated(op Op, a, b span) span {
	switch op {
	case Neg, Not:
		return around(arithmetic(op, a.low, 0), arithmetic(op, a.high, 0))
	case Add:
		return around(a.low+b.low, a.high+b.high)
	case Sub:
		return around(a.low-b.high, a.high-b.low)
	case Mul:
		return around(a.low*b.low, a.low*b.high, a.high*b.low, a.high*b.high)
	case Div, IntDiv, Mod:
		return quotients(op, a, b)
	}
	return compared(op, a, b)
}

// around returns the span of some numbers.
func around(list ...float64) span {
	if slices.ContainsFunc(list, math.IsNaN) { // the product of zero and infinity
		return anything
	}
	return span{low: slices.Min(list), high: slices.Max(list)}
}

func quotients(op Op, a, b span) span {
	switch {
	case b.low <= 0 && b.high >= 0:
		return anything
	case a.low == a.high && b.low == b.high:
		return exactly(divide(op, a.low, b.low))
	case op == Mod:
		most := math.Max(math.Abs(b.low), math.Abs(b.high))
		return span{low: math.Max(-most, math.Min(a.low, 0)), high: math.Min(most, math.Max(a.high, 0))}
	}
	return around(divide(op, a.low, b.low), divide(op, a.low, b.high), divide(op, a.high, b.low),
		divide(op, a.high, b.high))
}

// compared is 1 or 0 where all numbers of a and b compare alike.
func compared(op Op, a, b span) span {
	always, never := false, false
	switch op {
	case Lt:
		always, never = a.high < b.low, a.low >= b.high
	case Le:
		always, never = a.high <= b.low, a.low > b.high
	case Gt, Ge:
		return compared(Lt+(op-Gt), b, a)
	case Eq, Ne:
		always = a.low == a.high && b.low == b.high && a.low == b.low
		never = a.high < b.low || a.low > b.high
		if op == Ne {
			always, never = never, always
		}
	}
	return span{low: truth(always), high: truth(!never)}
}
