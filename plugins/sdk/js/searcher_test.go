package js_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// wide has every form of parameter, conditions and a constraint.
func wide() *space.Space {
	isSGD := &space.Expr{Op: space.In, Param: 5, Set: []int{0}}
	return &space.Space{
		Params: []space.Param{
			{Name: "lr", Kind: space.Real, Low: 1e-5, High: 1, Log: true},
			{Name: "net/depth", Kind: space.Int, Low: 1, High: 9},
			{Name: "net/units", Kind: space.Int, Low: 8, High: 512, Log: true, Step: 8},
			{Name: "drop", Kind: space.Real, Low: 0, High: 0.5, Step: 0.1},
			{Name: "bias", Kind: space.Normal, Mean: 1, SD: 2},
			{Name: "optimizer", Kind: space.Choice,
				Choices: [][]byte{[]byte(`"sgd"`), []byte(`"adam"`), []byte(`{"lion": [1, 2]}`)}},
			{Name: "momentum", Kind: space.Real, Low: 0, High: 1, When: isSGD},
			{Name: "batch", Kind: space.Ordinal, Choices: [][]byte{[]byte("16"), []byte("32"), []byte("64")}},
		},
		Constraints: []*space.Expr{{Op: space.Le, Args: []*space.Expr{
			{Op: space.Mul, Args: []*space.Expr{{Op: space.Number, Param: 1}, {Op: space.Number, Param: 7}}},
			{Op: space.Const, Number: 300},
		}}},
	}
}

// small has 2·3 + 3 points.
func small() *space.Space {
	return &space.Space{Params: []space.Param{
		{Name: "a", Kind: space.Choice, Choices: [][]byte{[]byte(`"x"`), []byte(`"y"`)}},
		{Name: "b", Kind: space.Int, Low: 1, High: 3},
		{Name: "c", Kind: space.Choice, Choices: [][]byte{[]byte("true"), []byte("false")},
			When: &space.Expr{Op: space.In, Param: 0, Set: []int{1}}},
	}}
}

func problem(s *space.Space) sdk.Problem {
	return sdk.Problem{Space: s, Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}}, Seed: math.MaxUint64,
		Trials: 20}
}

func openSearcher(t testing.TB, s *space.Space, options string) plugin.Searcher {
	t.Helper()
	opened, err := start(t, program(t, sdk.KindSearcher, "samples/climber.js")).OpenSearcher(t.Context(), problem(s),
		[]byte(options), nil)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// requests returns requests for suggestions from the trial on; seeds use all bits.
func requests(from, n uint32) (list []sdk.Request) {
	for i := range n {
		list = append(list, sdk.Request{Trial: from + i, Seed: math.MaxUint64 - uint64(from+i)*0x9e3779b97f4a7c15})
	}
	return list
}

func suggest(t testing.TB, s plugin.Searcher, list []sdk.Request) sdk.Suggestions {
	t.Helper()
	answer, err := s.Suggest(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestDescriptions checks the description and schema of every sample.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]sdk.Kind{"climber": sdk.KindSearcher, "halfway": sdk.KindScheduler,
		"descent": sdk.KindTrainable, "descent-resumable": sdk.KindTrainable} {
		info, err := start(t, program(t, kind, "samples/"+name+".js")).Describe(t.Context())
		if err != nil || info.Name != name {
			t.Fatal(info, err)
		}
		if err := conformance.CheckInfo(info, kind); err != nil {
			t.Error(err)
		}
	}
}

// TestClimberSamples checks that the first points equal those of the Go package bit by bit. B-102
func TestClimberSamples(t *testing.T) {
	t.Parallel()
	s := wide()
	answer := suggest(t, openSearcher(t, s, `{"start": 40}`), requests(0, 40))
	for i, r := range requests(0, 40) {
		want, err := s.Sample(space.NewRand(r.Seed))
		if err != nil || s.Key(want) != s.Key(answer.Points[i]) {
			t.Errorf("trial %d: got %v, want %v (%v)", i, answer.Points[i], want, err)
		}
	}
}

// told returns the history of trials that were added and completed with their losses.
func told(points []space.Point, loss func(space.Point) float64) (events []sdk.Event) {
	for i, p := range points {
		n := uint64(len(events))
		events = append(events, sdk.Event{Number: n + 1, Kind: sdk.TrialAdded, Trial: uint32(i), Point: p},
			sdk.Event{Number: n + 2, Kind: sdk.ResultReported, Trial: uint32(i), Attempt: 1, Iteration: 1,
				Losses: []float64{loss(p)}})
	}
	return events
}

func TestClimberClimbs(t *testing.T) {
	t.Parallel()
	s := wide()
	loss := func(p space.Point) float64 { return math.Abs(s.ToUnit(0, p[0]) - 0.77) }
	points := suggest(t, openSearcher(t, s, `{}`), requests(0, 10)).Points
	first := slices.MinFunc(points, func(a, b space.Point) int { return int(1e9 * (loss(a) - loss(b))) })
	opened := openSearcher(t, s, `{}`)
	events := told(points, loss)
	for round := range 8 {
		if err := opened.Observe(t.Context(), events); err != nil {
			t.Fatal(err)
		}
		answer := suggest(t, opened, requests(uint32(len(points)), 4))
		for _, p := range answer.Points {
			if err := s.Check(p); err != nil || !s.Holds(p) {
				t.Fatalf("round %d: %v: %v", round, p, err)
			}
		}
		points = append(points, answer.Points...)
		events = told(points, loss)[len(told(points, loss))-8:]
	}
	best := slices.MinFunc(points, func(a, b space.Point) int { return int(1e9 * (loss(a) - loss(b))) })
	if loss(best) >= loss(first) || loss(best) > 0.02 {
		t.Errorf("the best of 10 random points had loss %v, that of 32 steps %v", loss(first), loss(best))
	}
}

// TestClimberReplays checks that other batches of the same events give the same answers.
func TestClimberReplays(t *testing.T) {
	t.Parallel()
	s := wide()
	loss := func(p space.Point) float64 { return p[0] }
	one, other := openSearcher(t, s, `{"start": 5}`), openSearcher(t, s, `{"start": 5}`)
	points := suggest(t, one, requests(0, 5)).Points
	events := told(points, loss)
	if err := one.Observe(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	for i := range events {
		if err := other.Observe(t.Context(), events[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	a, b := suggest(t, one, requests(5, 6)), suggest(t, other, requests(5, 6))
	for i := range a.Points {
		if s.Key(a.Points[i]) != s.Key(b.Points[i]) {
			t.Errorf("%v and %v", a.Points[i], b.Points[i])
		}
	}
}

func TestClimberExhausts(t *testing.T) {
	t.Parallel()
	s := small()
	answer := suggest(t, openSearcher(t, s, `{}`), requests(0, 20))
	if len(answer.Points) != 9 || answer.Status != sdk.Exhausted {
		t.Fatalf("%d points, status %d; want 9 and exhausted", len(answer.Points), answer.Status)
	}
	seen := map[string]bool{}
	for _, p := range answer.Points {
		if err := s.Check(p); err != nil {
			t.Error(err)
		}
		seen[s.Key(p)] = true
	}
	if len(seen) != 9 {
		t.Errorf("%d different points of 9", len(seen))
	}
}

func TestGivenCoordinates(t *testing.T) {
	t.Parallel()
	s, nan := wide(), math.NaN()
	given := space.Point{nan, 5, nan, nan, nan, 0, nan, nan}
	answer := suggest(t, openSearcher(t, s, `{}`), []sdk.Request{{Seed: 3, Given: given}})
	if p := answer.Points[0]; p[1] != 5 || p[5] != 0 || s.Check(p) != nil {
		t.Errorf("%v: %v", p, s.Check(p))
	}
}

// B-074
func TestRefusedOptions(t *testing.T) {
	t.Parallel()
	for options, says := range map[string]string{
		`{"stepp": 1}`:    `option "stepp" is unknown; known: start, step`,
		`{"step": "far"}`: `option "step" is "far"; expected: number`,
	} {
		_, err := start(t, program(t, sdk.KindSearcher, "samples/climber.js")).OpenSearcher(t.Context(),
			problem(small()), []byte(options), nil)
		if plugin.FailureOf(err) != plugin.Refused || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", options, err)
		}
	}
}

// TestOtherKind checks that a searcher refuses the calls of a scheduler.
func TestOtherKind(t *testing.T) {
	t.Parallel()
	c := program(t, sdk.KindScheduler, "samples/climber.js")
	if p, err := startError(t, c); err == nil || !strings.Contains(err.Error(), "is not a scheduler") {
		t.Error(p, err)
	}
}

// Constraints that no point satisfies are no failure of the plugin: the host does not ask again.
func TestTooTight(t *testing.T) {
	t.Parallel()
	s := openSearcher(t, &space.Space{Params: []space.Param{{Name: "x", Kind: space.Real, High: 1}},
		Constraints: []*space.Expr{{Op: space.Const}}}, "")
	if _, err := s.Suggest(t.Context(), requests(0, 1)); !errors.Is(err, space.ErrTight) {
		t.Error(err)
	}
}
