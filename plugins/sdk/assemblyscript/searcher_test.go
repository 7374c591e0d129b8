package assemblyscript_test

import (
	"math"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

func describe(t *testing.T, info *pb.Info, kind sdk.Kind) {
	t.Helper()
	if err := conformance.CheckInfo(wire.InfoFromProto(info), kind); err != nil {
		t.Error(err)
	}
}

// number is an expression for the value of a parameter.
func number(i int) *space.Expr { return &space.Expr{Op: space.Number, Param: i} }

func constant(x float64) *space.Expr { return &space.Expr{Op: space.Const, Number: x} }

func expr(op space.Op, args ...*space.Expr) *space.Expr { return &space.Expr{Op: op, Args: args} }

// wide has every form of parameter, conditions and a constraint.
func wide() *space.Space {
	texts := func(list ...string) (choices [][]byte) {
		for _, text := range list {
			choices = append(choices, []byte(text))
		}
		return choices
	}
	deep := expr(space.And, expr(space.Ge, number(1), constant(3)),
		expr(space.Or, &space.Expr{Op: space.In, Param: 5, Set: []int{0, 2}},
			expr(space.Lt, expr(space.Mod, number(2), constant(16)), constant(8))))
	return &space.Space{
		Params: []space.Param{
			{Name: "lr", Kind: space.Real, Low: 1e-5, High: 1, Log: true},
			{Name: "net/depth", Kind: space.Int, Low: 1, High: 9},
			{Name: "net/units", Kind: space.Int, Low: 8, High: 512, Log: true, Step: 8},
			{Name: "drop", Kind: space.Real, Low: -0.3, High: 0.5, Step: 0.1},
			{Name: "bias", Kind: space.Normal, Mean: 1, SD: 2},
			{Name: "optimizer", Kind: space.Choice, Choices: texts(`"sgd"`, `"adam"`, `{"lion": [1, 2]}`)},
			{Name: "momentum", Kind: space.Real, Low: 0, High: 1,
				When: &space.Expr{Op: space.In, Param: 5, Set: []int{0}}},
			{Name: "batch", Kind: space.Ordinal, Choices: texts("16", "32.5", "-64e0"), When: deep},
			{Name: "grain", Kind: space.Normal, Mean: 10, SD: 3, Step: 0.25,
				When: expr(space.If, expr(space.Gt, number(6), constant(0.5)), constant(1),
					expr(space.Ne, number(5), constant(0)))},
			{Name: "huge", Kind: space.Int, Low: -(1 << 53), High: 1 << 53},
		},
		Constraints: []*space.Expr{
			expr(space.Le, expr(space.Mul, number(1), number(7)), constant(200)),
			expr(space.Not, expr(space.Eq, expr(space.IntDiv, number(2), constant(100)),
				expr(space.Sub, number(1), constant(1)))),
			expr(space.Le, expr(space.Neg, expr(space.Add, number(4), expr(space.Div, number(3), number(6)))),
				constant(9)),
		},
	}
}

// small has 3 + 2·3 points.
func small() *space.Space {
	return &space.Space{Params: []space.Param{
		{Name: "a", Kind: space.Choice, Choices: [][]byte{[]byte(`"x"`), []byte(`"y"`)}},
		{Name: "b", Kind: space.Int, Low: 1, High: 3},
		{Name: "c", Kind: space.Choice, Choices: [][]byte{[]byte("true"), []byte("false")},
			When: &space.Expr{Op: space.In, Param: 0, Set: []int{1}}},
	}}
}

func problem(s *space.Space) *pb.Problem {
	return wire.ProblemToProto(sdk.Problem{Space: s, Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}},
		Seed: math.MaxUint64, Trials: 20})
}

func openClimber(t testing.TB, s *space.Space, options string) *guest {
	t.Helper()
	g := load(t, "climber")
	g.must("SearcherService/OpenSearcher", &pb.OpenSearcherRequest{Problem: problem(s), Options: []byte(options)},
		&pb.OpenSearcherResponse{})
	return g
}

func requests(from, n uint32) (list []sdk.Request) {
	for i := range n {
		list = append(list, sdk.Request{Trial: from + i, Seed: math.MaxUint64 - uint64(from+i)*0x9e3779b97f4a7c15})
	}
	return list
}

func (g *guest) suggest(events []sdk.Event, list []sdk.Request) sdk.Suggestions {
	g.Helper()
	response := &pb.SuggestResponse{}
	g.must("SearcherService/Suggest", &pb.SuggestRequest{Events: wire.EventsToProto(events),
		Requests: wire.RequestsToProto(list)}, response)
	answer, err := wire.SuggestionsFromProto(response)
	if err != nil {
		g.Fatal(err)
	}
	return answer
}

// told returns the history of trials that were added and reported their losses.
func told(points []space.Point, loss func(space.Point) float64) (events []sdk.Event) {
	for i, p := range points {
		n := uint64(len(events))
		events = append(events, sdk.Event{Number: n + 1, Kind: sdk.TrialAdded, Trial: uint32(i), Point: p},
			sdk.Event{Number: n + 2, Kind: sdk.ResultReported, Trial: uint32(i), Attempt: 1, Iteration: 1,
				Losses:  []float64{loss(p)},
				Metrics: []sdk.Metric{{Name: "loss", Value: loss(p)}}, Reason: "none"})
	}
	return events
}

func TestClimberIsDescribed(t *testing.T) {
	m := &pb.DescribeSearcherResponse{}
	load(t, "climber").must("SearcherService/DescribeSearcher", &pb.DescribeSearcherRequest{}, m)
	describe(t, m.GetInfo(), sdk.KindSearcher)
}

// TestClimberSamples checks that the first points equal those of the Go package bit by bit. B-102
func TestClimberSamples(t *testing.T) {
	s := wide()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	list := requests(0, 300)
	answer := openClimber(t, s, `{"start": 300}`).suggest(nil, list)
	for i, r := range list {
		want, err := s.Sample(space.NewRand(r.Seed))
		if err != nil || s.Key(want) != s.Key(answer.Points[i]) || s.Check(answer.Points[i]) != nil {
			t.Fatalf("trial %d: got %v, want %v (%v)", i, answer.Points[i], want, err)
		}
	}
}

func TestClimberClimbs(t *testing.T) {
	s := wide()
	loss := func(p space.Point) float64 { return math.Abs(s.ToUnit(0, p[0]) - 0.77) }
	g := openClimber(t, s, `{}`)
	points := g.suggest(nil, requests(0, 10)).Points
	events := told(points, loss)
	for range 8 {
		answer := g.suggest(events, requests(uint32(len(points)), 4))
		for _, p := range answer.Points {
			if err := s.Check(p); err != nil || !s.Holds(p) {
				t.Fatalf("%v: %v", p, err)
			}
		}
		points = append(points, answer.Points...)
		events = told(points, loss)[2*len(points)-8:]
	}
	first, best := math.Inf(1), math.Inf(1)
	for i, p := range points {
		best = min(best, loss(p))
		if i < 10 {
			first = min(first, loss(p))
		}
	}
	if best >= first || best > 0.02 {
		t.Errorf("the best of 10 random points had loss %v, that of 32 steps %v", first, best)
	}
}

// TestClimberReplays checks that a new instance with the same events gives the same answers.
func TestClimberReplays(t *testing.T) {
	s := wide()
	events := told(openClimber(t, s, `{"start": 3}`).suggest(nil, requests(0, 3)).Points,
		func(p space.Point) float64 { return p[0] })
	one, other := openClimber(t, s, `{"start": 3}`), openClimber(t, s, `{"start": 3}`)
	a := one.suggest(events, requests(3, 20))
	other.suggest(events[:3], nil)
	b := other.suggest(events[3:], requests(3, 20))
	for i := range a.Points {
		if s.Key(a.Points[i]) != s.Key(b.Points[i]) {
			t.Errorf("%v and %v", a.Points[i], b.Points[i])
		}
	}
}

func TestClimberExhausts(t *testing.T) {
	s := small()
	g := openClimber(t, s, `{}`)
	answer := g.suggest(nil, requests(0, 20))
	seen := map[string]bool{}
	for _, p := range answer.Points {
		if err := s.Check(p); err != nil {
			t.Error(err)
		}
		seen[s.Key(p)] = true
	}
	if len(seen) != 9 || len(answer.Points) != 9 || answer.Status != sdk.Exhausted {
		t.Fatalf("%d points, %d different, status %d; want 9 and exhausted", len(answer.Points), len(seen),
			answer.Status)
	}
	given := space.Point{math.NaN(), 2, math.NaN()}
	again := g.suggest(nil, []sdk.Request{{Trial: 30, Seed: 1, Given: given}})
	if len(again.Points) != 1 || again.Points[0][1] != 2 || s.Check(again.Points[0]) != nil {
		t.Errorf("%+v: a request with coordinates needs an answer", again)
	}
}

func TestRefused(t *testing.T) {
	open := func(s *space.Space, options string) *pb.OpenSearcherRequest {
		return &pb.OpenSearcherRequest{Problem: problem(s), Options: []byte(options)}
	}
	const method = "SearcherService/OpenSearcher"
	for options, says := range map[string]string{
		`{"stepp": 1}`:              `option "stepp" is unknown`,
		`{"step": "far"}`:           `option "step" is no number`,
		`{"start": 2.5}`:            `option "start" is 2.5; expected: integer`,
		`{"start": 0}`:              `option "start" must be at least 1`,
		`[]`:                        "not a JSON object",
		`{"step": 0.1`:              "not JSON at character 12",
		`{"step": }`:                "not JSON at character 9",
		`{"step": 0.1} x`:           "something after the JSON object",
		strings.Repeat(`{"a":`, 99): "deeper",
	} {
		load(t, "climber").refused(method, open(small(), options), codes.InvalidArgument, says)
	}
	none := small()
	none.Constraints = []*space.Expr{constant(0)}
	g := load(t, "climber")
	g.refused(method, open(none, `{}`), codes.InvalidArgument, "no point of the space satisfies the constraints")
	g.refused("SearcherService/Suggest", &pb.SuggestRequest{}, codes.FailedPrecondition, "not opened")
	g.refused("SchedulerService/DescribeScheduler", &pb.DescribeSchedulerRequest{}, codes.Unimplemented, "no method")
	bad := problem(small())
	bad.Space.Params[2].When.Op = 99
	g.refused(method, &pb.OpenSearcherRequest{Problem: bad}, codes.InvalidArgument,
		`condition of parameter "c": unknown operation 99`)
	tight := wide()
	tight.Constraints = []*space.Expr{constant(0)}
	g.must(method, open(tight, ""), &pb.OpenSearcherResponse{})
	g.refused("SearcherService/Suggest", &pb.SuggestRequest{Requests: wire.RequestsToProto(requests(0, 1))},
		codes.OutOfRange, "no point satisfies the constraints")
}

// TestGarbage checks that an invalid message ends the instance, with a line in the log.
func TestGarbage(t *testing.T) {
	g := load(t, "climber")
	_, err := g.invoke("/tunehost.v1.SearcherService/OpenSearcher", []byte{0x0a, 0xff, 0x01})
	if err == nil || len(g.logs) != 1 || !strings.Contains(g.logs[0], "a message ends early (assembly/proto.ts:") {
		t.Errorf("%v, %q", err, g.logs)
	}
}

func BenchmarkSuggest(b *testing.B) {
	s := wide()
	g := openClimber(b, s, `{"start": 1000000000}`)
	for i := range b.N {
		g.suggest(nil, requests(uint32(i), 1))
	}
}

// BenchmarkStart compiles and starts a module.
func BenchmarkStart(b *testing.B) {
	for range b.N {
		load(b, "climber")
	}
}
