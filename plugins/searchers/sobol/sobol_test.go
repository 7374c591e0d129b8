package sobol

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/sequence"
)

// cube has n reals from 0 to 1.
func cube(n int) *space.Space {
	s := &space.Space{}
	for i := range n {
		s.Params = append(s.Params, space.Param{Name: fmt.Sprint("x", i), Kind: space.Real, High: 1})
	}
	return s
}

func mustOpen(t testing.TB, s *space.Space, seed uint64, options string) sdk.Searcher {
	t.Helper()
	searcher, traits, err := Plugin.Open(sdk.Problem{Space: s, Seed: seed}, []byte(options))
	if err != nil || !traits.Independent {
		t.Fatal(traits, err)
	}
	return searcher
}

// ask requests trials first to end-1.
func ask(t testing.TB, s sdk.Searcher, first, end int) sdk.Suggestions {
	t.Helper()
	var requests []sdk.Request
	for i := first; i < end; i++ {
		requests = append(requests, sdk.Request{Trial: uint32(i), Seed: uint64(i) * 77})
	}
	answer, err := s.Suggest(context.Background(), requests)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// Each 2^k consecutive trials have one value in each of 2^k slices, in all dimensions.
func TestSlices(t *testing.T) {
	points := ask(t, mustOpen(t, cube(sequence.MaxDimensions), 3, ""), 64, 128).Points
	for i := range sequence.MaxDimensions {
		var slices uint64
		for _, p := range points {
			slices |= 1 << int(p[i]*64)
		}
		if bits.OnesCount64(slices) != 64 {
			t.Errorf("dimension %d: slices %b", i+1, slices)
		}
	}
}

// The first two dimensions have one point in each box of 2^-a by 2^-b.
func TestBoxes(t *testing.T) {
	points := ask(t, mustOpen(t, cube(2), 9, ""), 256, 512).Points
	for a := range 9 {
		seen := map[[2]int]bool{}
		for _, p := range points {
			seen[[2]int{int(math.Ldexp(p[0], a)), int(math.Ldexp(p[1], 8-a))}] = true
		}
		if len(seen) != 256 {
			t.Errorf("2^%d by 2^%d: %d boxes", a, 8-a, len(seen))
		}
	}
}

// It integrates a smooth function much better than random points.
func TestIntegral(t *testing.T) {
	const dimensions, points, seeds = 6, 256, 20
	random, sobol := 0.0, 0.0
	s := cube(dimensions)
	for seed := range uint64(seeds) {
		rng, sequence := space.NewRand(seed), ask(t, mustOpen(t, s, seed, ""), 0, points).Points
		drawn := make([]space.Point, points)
		for i := range drawn {
			drawn[i] = s.Draw(rng)
		}
		random += math.Pow(mean(drawn)-1, 2)
		sobol += math.Pow(mean(sequence)-1, 2)
	}
	if sobol > random/100 {
		t.Errorf("squared errors: sobol %g, random %g", sobol/seeds, random/seeds)
	}
}

// mean returns the mean of a product whose integral is 1.
func mean(points []space.Point) (sum float64) {
	for _, p := range points {
		product := 1.0
		for _, x := range p {
			product *= (2*x + 1) / 2
		}
		sum += product / float64(len(points))
	}
	return sum
}

// B-102: a trial's point depends neither on other requests nor on results.
func TestFunctionOfTheTrial(t *testing.T) {
	s := cube(300) // more than there are direction numbers for
	all := ask(t, mustOpen(t, s, 5, ""), 0, 20).Points
	some := ask(t, mustOpen(t, s, 5, ""), 13, 20).Points
	if fmt.Sprint(all[13:]) != fmt.Sprint(some) {
		t.Error("points depend on earlier requests")
	}
	if other := ask(t, mustOpen(t, s, 6, ""), 0, 1).Points; other[0][0] == all[0][0] {
		t.Error("points do not depend on the experiment's seed")
	}
	searcher := mustOpen(t, s, 5, "")
	first, second := ask(t, searcher, 0, 1).Points[0], ask(t, searcher, 0, 1).Points[0]
	if first[0] == second[0] {
		t.Error("a refused point is suggested again")
	}
	if s.Check(first) != nil || s.Check(second) != nil {
		t.Error(s.Check(first), s.Check(second))
	}
}

// Finite spaces end, also if others tried their points; conditions prune (B-106).
func TestFiniteSpace(t *testing.T) {
	s := &space.Space{Params: []space.Param{
		{Name: "a", Kind: space.Choice, Choices: [][]byte{[]byte("0"), []byte("1")}},
		{Name: "b", Kind: space.Int, High: 6, When: &space.Expr{Op: space.In, Param: 0, Set: []int{1}}},
	}}
	searcher := mustOpen(t, s, 1, "")
	event := sdk.Event{Number: 1, Kind: sdk.TrialAdded, Point: space.Point{1, 4}}
	if err := searcher.Observe(context.Background(), []sdk.Event{event}); err != nil {
		t.Fatal(err)
	}
	answer := ask(t, searcher, 1, 20)
	seen := map[string]bool{"[1 4]": true}
	for _, p := range answer.Points {
		if seen[fmt.Sprint(p)] || s.Check(p) != nil {
			t.Errorf("%v: %v", p, s.Check(p))
		}
		seen[fmt.Sprint(p)] = true
	}
	if len(seen) != 8 || answer.Status != sdk.Exhausted {
		t.Errorf("%v, status %v", seen, answer.Status)
	}
	if repeats := ask(t, mustOpen(t, s, 1, `{"repeats": true}`), 0, 50); len(repeats.Points) != 50 {
		t.Error(repeats)
	}
}

func TestConstraintAndGiven(t *testing.T) {
	s := cube(2)
	s.Constraints = []*space.Expr{{Op: space.Lt, Args: []*space.Expr{{Op: space.Number}, {Op: space.Number, Param: 1}}}}
	for _, p := range ask(t, mustOpen(t, s, 1, ""), 0, 100).Points {
		if !s.Holds(p) {
			t.Fatal(p)
		}
	}
	answer, err := mustOpen(t, s, 1, "").Suggest(context.Background(),
		[]sdk.Request{{Given: space.Point{0.999, math.NaN()}}})
	if err != nil || answer.Points[0][0] != 0.999 || !s.Holds(answer.Points[0]) {
		t.Error(answer, err)
	}
	s.Constraints[0] = &space.Expr{Op: space.Const}
	_, err = mustOpen(t, s, 1, "").Suggest(context.Background(), []sdk.Request{{Trial: 4}})
	if err == nil || err.Error() != "trial 4: "+space.ErrTight.Error() {
		t.Error(err)
	}
}

func TestOpenMessages(t *testing.T) {
	if _, _, err := Plugin.Open(sdk.Problem{Space: cube(1)}, []byte(`{"scramble": 1}`)); err == nil ||
		err.Error() != `unknown option "scramble"; known: repeats` {
		t.Error(err)
	}
	if _, _, err := Plugin.Open(sdk.Problem{Space: &space.Space{Params: []space.Param{{Name: "x"}}}}, nil); err == nil {
		t.Error("an invalid space is opened")
	}
}

func BenchmarkSuggest(b *testing.B) {
	searcher := mustOpen(b, cube(10), 1, "")
	for i := 0; b.Loop(); i++ {
		ask(b, searcher, i, i+1)
	}
}
