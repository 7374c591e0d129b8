package grid

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

var nan = math.NaN()

func raws(texts ...string) [][]byte {
	var raw [][]byte
	for _, text := range texts {
		raw = append(raw, []byte(text))
	}
	return raw
}

func mustOpen(t testing.TB, s *space.Space, options string) sdk.Searcher {
	t.Helper()
	searcher, traits, err := Plugin.Open(sdk.Problem{Space: s}, []byte(options))
	if err != nil || !traits.Independent {
		t.Fatal(traits, err)
	}
	return searcher
}

// ask requests n points with the same given coordinates, and formats the answer.
func ask(t testing.TB, s sdk.Searcher, n int, given space.Point) string {
	t.Helper()
	requests := make([]sdk.Request, n)
	for i := range requests {
		requests[i].Given = given
	}
	answer, err := s.Suggest(context.Background(), requests)
	if err != nil {
		return err.Error()
	}
	text := strings.Trim(fmt.Sprint(answer.Points), "[]")
	if answer.Status == sdk.Exhausted {
		text += " end"
	}
	return text
}

func check(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// crossed has two choices, a child of the second, and three integers.
func crossed() *space.Space {
	return &space.Space{Params: []space.Param{
		{Name: "a", Kind: space.Choice, Choices: raws("0", "1"), Grid: true},
		{Name: "b", Kind: space.Ordinal, Choices: raws("5", "6"),
			When: &space.Expr{Op: space.In, Param: 0, Set: []int{1}}},
		{Name: "c", Kind: space.Int, Low: 1, High: 3},
	}}
}

func TestOrder(t *testing.T) {
	check(t, ask(t, mustOpen(t, crossed(), ""), 10, nil),
		"0 NaN 1] [0 NaN 2] [0 NaN 3] [1 0 1] [1 0 2] [1 0 3] [1 1 1] [1 1 2] [1 1 3 end")
}

func TestContinua(t *testing.T) {
	for _, c := range []struct {
		p       space.Param
		options string
		want    string
	}{
		{space.Param{Kind: space.Real, Low: 0, High: 1}, "", "0] [0.25] [0.5] [0.75] [1 end"},
		{space.Param{Kind: space.Real, Low: 1e-5, High: 0.1, Log: true}, "", "1e-05] [0.0001] [0.001] [0.01] [0.1 end"},
		{space.Param{Kind: space.Real, Low: 0, High: 1, Step: 0.5}, "", "0] [0.5] [1 end"},
		{space.Param{Kind: space.Real, Low: 1, High: 100, Log: true}, `{"resolution": 1}`, "10 end"},
		{space.Param{Kind: space.Real, Low: 4, High: 4}, "", "4 end"},
		{space.Param{Kind: space.Normal, Mean: 1, SD: 2}, `{"resolution": 3}`,
			"-0.934843132203] [1] [2.9348431322 end"},
		{space.Param{Kind: space.Normal, Mean: 1, SD: 1, Step: 1}, "", "0] [1] [2 end"},
	} {
		c.p.Name = "x"
		check(t, ask(t, mustOpen(t, &space.Space{Params: []space.Param{c.p}}, c.options), 9, nil), c.want)
	}
}

func TestConstraint(t *testing.T) {
	s := crossed()
	s.Constraints = []*space.Expr{{Op: space.Gt, Args: []*space.Expr{{Op: space.Number, Param: 2},
		{Op: space.Number, Param: 1}}}}
	check(t, ask(t, mustOpen(t, s, ""), 9, nil), "0 NaN 1] [0 NaN 2] [0 NaN 3 end")
	s.Constraints[0] = &space.Expr{Op: space.Const}
	check(t, ask(t, mustOpen(t, s, ""), 9, nil), "trial 0: no point of the grid satisfies the constraints: loosen "+
		"them, or raise the option resolution")
}

// B-100: with the host's axes given, the rest is combined for each separately.
func TestGivenAxes(t *testing.T) {
	s := mustOpen(t, crossed(), "")
	check(t, ask(t, s, 2, space.Point{0, nan, nan}), "0 NaN 1] [0 NaN 2")
	check(t, ask(t, s, 2, space.Point{1, nan, nan}), "1 0 1] [1 0 2")
	check(t, ask(t, s, 2, space.Point{0, nan, nan}), "0 NaN 3 end")
	check(t, ask(t, s, 9, nil), "1 0 3] [1 1 1] [1 1 2] [1 1 3 end")
}

// walk asks for all points of a searcher in the order of trials, one or several at a time.
func walk(t testing.TB, s sdk.Searcher, limit, together int) string {
	t.Helper()
	var points []space.Point
	for n := 0; n < limit; n += together {
		requests := make([]sdk.Request, together)
		for i := range requests {
			requests[i].Trial = uint32(n + i)
		}
		answer, err := s.Suggest(context.Background(), requests)
		if err != nil {
			return err.Error()
		}
		points = append(points, answer.Points...)
		if answer.Status == sdk.Exhausted {
			return strings.Trim(fmt.Sprint(points), "[]") + " end"
		}
	}
	return strings.Trim(fmt.Sprint(points), "[]")
}

// B-100, B-106: combinations of the grid axes take turns; those with fewer points than others are
// passed over when they have no more, instead of ending the grid or being repeated.
func TestUnevenCells(t *testing.T) {
	const want = "0 NaN 1] [1 0 1] [0 NaN 2] [1 0 2] [0 NaN 3] [1 0 3] [1 1 1] [1 1 2] [1 1 3 end"
	check(t, walk(t, mustOpen(t, crossed(), ""), 20, 1), want)
	check(t, walk(t, mustOpen(t, crossed(), ""), 20, 4), want)
	single := crossed()
	single.Params[2].High = 1
	check(t, walk(t, mustOpen(t, single, ""), 20, 1), "0 NaN 1] [1 0 1] [1 1 1 end")
	narrow := crossed() // c > a + 1
	narrow.Constraints = []*space.Expr{{Op: space.Gt, Args: []*space.Expr{{Op: space.Number, Param: 2},
		{Op: space.Add, Args: []*space.Expr{{Op: space.Number, Param: 0}, {Op: space.Const, Number: 1}}}}}}
	check(t, walk(t, mustOpen(t, narrow, ""), 20, 1), "0 NaN 2] [1 0 3] [0 NaN 3] [1 1 3 end")
}

// A point of the user leaves one less in its cell.
func TestTriedPointsOfCells(t *testing.T) {
	s := mustOpen(t, crossed(), "")
	tried := sdk.Event{Number: 1, Kind: sdk.TrialAdded, Point: space.Point{1, 1, 2}}
	if err := s.Observe(context.Background(), []sdk.Event{tried}); err != nil {
		t.Fatal(err)
	}
	check(t, walk(t, s, 20, 1), "0 NaN 1] [1 0 1] [0 NaN 2] [1 0 2] [0 NaN 3] [1 0 3] [1 1 1] [1 1 3 end")
}

// B-100: grid axes alone are repeated, in their order.
func TestGridAxesAlone(t *testing.T) {
	s := &space.Space{Params: crossed().Params[:1]}
	check(t, walk(t, mustOpen(t, s, ""), 5, 1), "0] [1] [0] [1] [0")
}

// B-100: what conditions and constraints rule out is passed over in each round, and combinations that others have run
// count.
func TestGridAxesAloneThatCannotBe(t *testing.T) {
	child := crossed()
	child.Params = child.Params[:2]
	child.Params[1].Grid = true
	check(t, walk(t, mustOpen(t, child, ""), 7, 1), "0 NaN] [1 0] [1 1] [0 NaN] [1 0] [1 1] [0 NaN")
	child.Constraints = []*space.Expr{{Op: space.Ne, Args: []*space.Expr{{Op: space.Number, Param: 1},
		{Op: space.Const, Number: 5}}}}
	check(t, walk(t, mustOpen(t, child, ""), 5, 1), "0 NaN] [1 1] [0 NaN] [1 1] [0 NaN")
	s := mustOpen(t, child, "")
	tried := sdk.Event{Number: 1, Kind: sdk.TrialAdded, Point: space.Point{0, nan}}
	if err := s.Observe(context.Background(), []sdk.Event{tried}); err != nil {
		t.Fatal(err)
	}
	check(t, walk(t, s, 3, 1), "1 1] [0 NaN] [1 1")
	child.Constraints[0] = &space.Expr{Op: space.Const}
	check(t, walk(t, mustOpen(t, child, ""), 1, 1), "trial 0: no point of the grid satisfies the constraints: loosen "+
		"them, or raise the option resolution")
}

// B-100: nothing is left to combine, so the grid is repeated.
func TestGivenPointsRepeat(t *testing.T) {
	check(t, ask(t, mustOpen(t, crossed(), ""), 3, space.Point{0, nan, 2}), "0 NaN 2] [0 NaN 2] [0 NaN 2")
	s := crossed()
	s.Params[2].High = 1
	check(t, ask(t, mustOpen(t, s, ""), 3, space.Point{0, nan, nan}), "0 NaN 1] [0 NaN 1] [0 NaN 1")
	check(t, ask(t, mustOpen(t, &space.Space{}, ""), 2, nil), " ") // two points without values
}

// B-104: a point of the user never ends the experiment.
func TestUsersPointsStartOver(t *testing.T) {
	check(t, ask(t, mustOpen(t, crossed(), ""), 5, space.Point{1, nan, 2}), "1 0 2] [1 1 2] [1 0 2] [1 1 2] [1 0 2")
}

// B-102: with the history, it continues where it was; foreign points are left out.
func TestFunctionOfHistory(t *testing.T) {
	s := mustOpen(t, crossed(), "")
	for i, p := range []space.Point{{0, nan, 1}, {1, 0, 2}, {0, nan, 2}, {7}} {
		event := sdk.Event{Number: uint64(i + 1), Kind: sdk.TrialAdded, Trial: uint32(i), Point: p}
		if err := s.Observe(context.Background(), []sdk.Event{event}); err != nil {
			t.Fatal(err)
		}
	}
	check(t, ask(t, s, 3, nil), "0 NaN 3] [1 0 1] [1 0 3")
}

func TestHugeGrid(t *testing.T) {
	s := &space.Space{}
	for i := range 20 {
		s.Params = append(s.Params, space.Param{Name: fmt.Sprint(i), Kind: space.Int, Low: -1 << 53, High: 1 << 53})
	}
	if p := ask(t, mustOpen(t, s, ""), 2, nil); !strings.HasSuffix(p, " -9.007199254740991e+15") {
		t.Error(p)
	}
}

// An endless search for a point that satisfies the constraints can be cancelled.
func TestCancel(t *testing.T) {
	wide := space.Param{Name: "x", Kind: space.Int, Low: 0, High: 1 << 53}
	x := &space.Expr{Op: space.Number}
	s := &space.Space{Params: []space.Param{wide},
		Constraints: []*space.Expr{{Op: space.Lt, Args: []*space.Expr{x, x}}}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := mustOpen(t, s, "").Suggest(ctx, make([]sdk.Request, 1)); err == nil {
		t.Error("no error")
	}
}

func TestOpenMessages(t *testing.T) {
	for options, want := range map[string]string{
		`{"resolution": 0}`:       `option "resolution" is 0; allowed: a whole number from 1 to 1000000`,
		`{"resolution": 1000001}`: `option "resolution" is 1000001; allowed: a whole number from 1 to 1000000`,
		`{"resolution": 2.5}`:     `option "resolution" is 2.5; allowed: a whole number from 1 to 1000000`,
		`{"points": 3}`:           `unknown option "points"; known: resolution`,
	} {
		if _, _, err := Plugin.Open(sdk.Problem{Space: crossed()}, []byte(options)); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, _, err := Plugin.Open(sdk.Problem{Space: &space.Space{Params: []space.Param{{Name: "x"}}}}, nil); err == nil {
		t.Error("an invalid space is opened")
	}
	check(t, ask(t, mustOpen(t, crossed(), ""), 1, space.Point{nan, nan, 9}),
		`trial 0: parameter "c" is 9; allowed: integers from 1 to 3`)
}

func BenchmarkSuggest(b *testing.B) {
	s := &space.Space{}
	for i := range 10 {
		s.Params = append(s.Params, space.Param{Name: fmt.Sprint(i), Kind: space.Real, High: 1})
	}
	searcher := mustOpen(b, s, "")
	for i := 0; b.Loop(); i++ {
		if i%10_000 == 9_999 {
			searcher = mustOpen(b, s, "")
		}
		if _, err := searcher.Suggest(context.Background(), make([]sdk.Request, 1)); err != nil {
			b.Fatal(err)
		}
	}
}
