package evolution

import (
	"fmt"
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

// The limits lie between the usual result and the result of tournaments with one trial, which
// select nothing.
func TestConverges(t *testing.T) {
	limits := map[string]float64{"branin": 0.45, "hartmann6": -3.0, "mixed": 0.2, "conditional": 0.12}
	for _, p := range searchtest.Problems() {
		t.Run(p.Name, func(t *testing.T) {
			got := searchtest.Best(t, Plugin, p, "{}", 6, 300)
			blind := searchtest.Best(t, Plugin, p, `{"tournament": 1}`, 6, 300)
			if t.Logf("%.4f; without selection %.4f", got, blind); got > limits[p.Name] || blind < limits[p.Name] {
				t.Errorf("best loss %.4f, without selection %.4f; want a limit of %.4f between", got, blind,
					limits[p.Name])
			}
		})
	}
}

// A child differs from its parent in exactly one parameter, apart from parameters that come or go
// with it.
func TestChild(t *testing.T) {
	sp := searchtest.EveryForm()
	s := searchtest.Open(t, Plugin, sp, "{}", 1).(*searcher)
	rng := space.NewRand(3)
	for range 2000 {
		parent, err := sp.Sample(rng)
		if err != nil {
			t.Fatal(err)
		}
		child, changed := s.child(parent, nil, rng), 0
		for i := range child {
			if child[i] != parent[i] {
				changed++
			}
		}
		if err := sp.Check(child); err != nil || changed != 1 {
			t.Fatalf("%v from %v: %d changes, %v", child, parent, changed, err)
		}
	}
}

// Entering a branch fills it, and leaving it empties it.
func TestBranches(t *testing.T) {
	sp := searchtest.Tree()
	s := searchtest.Open(t, Plugin, sp, "{}", 1).(*searcher)
	rng := space.NewRand(4)
	for range 1000 {
		parent, _ := sp.Sample(rng)
		if err := sp.Check(s.child(parent, nil, rng)); err != nil {
			t.Fatal(err)
		}
	}
}

// The oldest trial is removed, however good it is.
func TestAge(t *testing.T) {
	s := searchtest.Open(t, Plugin, searchtest.Reals(1, 0, 1), `{"population": 3, "tournament": 3}`, 1).(*searcher)
	for i := range 5 {
		searchtest.Observe(t, s, searchtest.Added(i, space.Point{0.1}), searchtest.Completed(i, float64(i)))
	}
	if got := fmt.Sprint(s.population[0].Trial, len(s.population)); got != "2 3" {
		t.Error(got)
	}
}

// Failures and infinite losses lose; nothing is learnt from them alone.
func TestFailuresLose(t *testing.T) {
	s := searchtest.Open(t, Plugin, searchtest.Reals(1, 0, 1), `{"population": 4, "tournament": 4}`, 1).(*searcher)
	for i, loss := range []float64{math.Inf(1), math.NaN(), math.Inf(-1)} {
		searchtest.Observe(t, s, searchtest.Added(i, space.Point{0.1}), searchtest.Completed(i, loss))
	}
	searchtest.Observe(t, s, searchtest.Added(3, space.Point{0.9}), sdk.Event{Kind: sdk.TrialFailed, Trial: 3})
	rng := space.NewRand(1)
	if parent := s.parent(rng); parent != nil {
		t.Errorf("%v has no value", parent)
	}
	searchtest.Observe(t, s, searchtest.Added(4, space.Point{0.5}), searchtest.Completed(4, 1e300))
	wins := 0
	for range 100 {
		if parent := s.parent(rng); parent != nil {
			wins++
		}
	}
	if wins < 60 { // of 4 draws of 4, one is it with probability 0.68
		t.Errorf("the only result wins %d of 100 tournaments", wins)
	}
}

// With several objectives, a trial that nobody dominates wins.
func TestSeveralObjectives(t *testing.T) {
	s := searchtest.Open(t, Plugin, searchtest.Reals(1, 0, 1), `{"population": 3, "tournament": 3}`, 2).(*searcher)
	for i, losses := range [][]float64{{1, 2}, {2, 1}, {3, 3}} {
		searchtest.Observe(t, s, searchtest.Added(i, space.Point{float64(i) / 2}), searchtest.Completed(i, losses...))
	}
	rng := space.NewRand(2)
	count := map[float64]int{}
	for range 300 {
		count[s.parent(rng)[0]]++
	}
	if count[0] < 100 || count[0.5] < 100 || count[1] > 30 {
		t.Error(count)
	}
}

func TestOptionMessages(t *testing.T) {
	for options, want := range map[string]string{
		`{"population": 1}`:                  `option "population" is 1; allowed: a whole number from 2 to 100000`,
		`{"population": 4, "tournament": 5}`: `option "tournament" is 5; allowed: 1 to the population, which is 4`,
		`{"step": 0}`:                        `option "step" is 0; allowed: a number above 0 and at most 1`,
	} {
		if _, _, err := Plugin.Open(sdk.Problem{Space: &space.Space{}}, []byte(options)); err == nil ||
			err.Error() != want {
			t.Errorf("%s: %v", options, err)
		}
	}
}

func BenchmarkSuggest(b *testing.B) {
	sp := searchtest.Reals(10, 0, 1)
	s := searchtest.Open(b, Plugin, sp, "{}", 1)
	searchtest.Run(b, s, sp, 1, 200, 1, func(p space.Point) []float64 { return p[:1] })
	for i := 0; b.Loop(); i++ {
		searchtest.Suggest(b, s, searchtest.Request(1, 200+i))
	}
}

func TestValuesMissing(t *testing.T) { searchtest.ValuesMissing(t, Plugin) }

func TestRetried(t *testing.T) { searchtest.Retried(t, Plugin) }
