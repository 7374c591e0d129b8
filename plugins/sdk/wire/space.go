package wire

import (
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// ProblemToProto encodes a problem.
func ProblemToProto(p sdk.Problem) *pb.Problem {
	m := &pb.Problem{
		Space:       spaceToProto(p.Space),
		Seed:        p.Seed,
		Trials:      natural(p.Trials),
		Concurrency: natural(p.Concurrency),
		Request:     p.Request,
		Capacity:    p.Capacity,
	}
	for _, o := range p.Objectives {
		m.Objectives = append(m.Objectives, &pb.Objective{Metric: o.Metric, Maximize: o.Mode == sdk.Max})
	}
	return m
}

// ProblemFromProto decodes a problem. Its Space is never nil.
func ProblemFromProto(m *pb.Problem) (sdk.Problem, error) {
	s, err := spaceFromProto(m.GetSpace())
	if err != nil {
		return sdk.Problem{}, err
	}
	p := sdk.Problem{
		Space:       s,
		Seed:        m.GetSeed(),
		Trials:      int(m.GetTrials()),
		Concurrency: int(m.GetConcurrency()),
		Request:     m.GetRequest(),
		Capacity:    m.GetCapacity(),
	}
	for _, o := range m.GetObjectives() {
		p.Objectives = append(p.Objectives, sdk.Objective{Metric: o.GetMetric(), Mode: mode(o.GetMaximize())})
	}
	return p, nil
}

func mode(maximize bool) sdk.Mode {
	if maximize {
		return sdk.Max
	}
	return sdk.Min
}

// natural returns n for the wire, where no count is negative.
func natural(n int) uint64 { return uint64(max(n, 0)) }

func spaceToProto(s *space.Space) *pb.Space {
	m := &pb.Space{}
	if s == nil {
		return m
	}
	m.Opaque = s.Opaque
	for i := range s.Params {
		m.Params = append(m.Params, paramToProto(&s.Params[i]))
	}
	for _, e := range s.Constraints {
		m.Constraints = append(m.Constraints, exprToProto(e))
	}
	return m
}

func spaceFromProto(m *pb.Space) (*space.Space, error) {
	s := &space.Space{Opaque: m.GetOpaque()}
	n := len(m.GetParams())
	for _, p := range m.GetParams() {
		q, err := paramFromProto(p, n)
		if err != nil {
			return nil, err
		}
		s.Params = append(s.Params, q)
	}
	for _, e := range m.GetConstraints() {
		x, err := exprFromProto(e, n)
		if err != nil {
			return nil, fmt.Errorf("constraint: %w", err)
		}
		s.Constraints = append(s.Constraints, x)
	}
	return s, nil
}

func paramToProto(p *space.Param) *pb.Param {
	return &pb.Param{
		Name: p.Name, Kind: pb.Param_Kind(p.Kind),
		Low: p.Low, High: p.High, Log: p.Log, Step: p.Step,
		Mean: p.Mean, Sd: p.SD,
		Choices: p.Choices, Grid: p.Grid, When: exprToProto(p.When),
	}
}

func paramFromProto(m *pb.Param, params int) (space.Param, error) {
	kind := m.GetKind()
	if kind < pb.Param_KIND_REAL || kind > pb.Param_KIND_ORDINAL {
		return space.Param{}, fmt.Errorf("parameter %q has the unknown kind %d", m.GetName(), kind)
	}
	when, err := exprFromProto(m.GetWhen(), params)
	if err != nil {
		return space.Param{}, fmt.Errorf("condition of parameter %q: %w", m.GetName(), err)
	}
	return space.Param{
		Name: m.GetName(), Kind: space.Kind(kind),
		Low: m.GetLow(), High: m.GetHigh(), Log: m.GetLog(), Step: m.GetStep(),
		Mean: m.GetMean(), SD: m.GetSd(),
		Choices: m.GetChoices(), Grid: m.GetGrid(), When: when,
	}, nil
}

func exprToProto(e *space.Expr) *pb.Expr {
	if e == nil {
		return nil
	}
	m := &pb.Expr{Op: uint32(e.Op), Param: uint32(e.Param), Number: e.Number}
	for _, i := range e.Set {
		m.Set = append(m.Set, uint32(i))
	}
	for _, a := range e.Args {
		m.Args = append(m.Args, exprToProto(a))
	}
	return m
}

func exprFromProto(m *pb.Expr, params int) (*space.Expr, error) {
	if m == nil {
		return nil, nil
	}
	if op := m.GetOp(); op < uint32(space.Const) || op > uint32(space.If) {
		return nil, fmt.Errorf("unknown operation %d", op)
	}
	if i := m.GetParam(); i > 0 && int(i) >= params {
		return nil, fmt.Errorf("parameter %d of %d", i, params)
	}
	e := &space.Expr{Op: space.Op(m.GetOp()), Param: int(m.GetParam()), Number: m.GetNumber()}
	for _, i := range m.GetSet() {
		e.Set = append(e.Set, int(i))
	}
	for _, a := range m.GetArgs() {
		x, err := exprFromProto(a, params)
		if err != nil {
			return nil, err
		}
		e.Args = append(e.Args, x)
	}
	return e, nil
}

func pointToProto(p space.Point) *pb.Point {
	if p == nil {
		return nil
	}
	return &pb.Point{Values: p}
}

// pointFromProto distinguishes no point from a point without values.
func pointFromProto(m *pb.Point) space.Point {
	if m == nil {
		return nil
	}
	if m.Values == nil {
		return space.Point{}
	}
	return m.Values
}
