package bohb

import (
	"math"
	"slices"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

// at gives a trial a result and ends or pauses it at that iteration.
func at(kind sdk.EventKind, trial int, iteration uint64, loss float64) sdk.Event {
	return sdk.Event{Kind: kind, Trial: uint32(trial), Iteration: iteration, Losses: []float64{loss}}
}

// run is successive halving by hand: of every nine trials three continue from budget 1 to 3, and
// one to 9. The loss at a budget is that of the function plus an error that shrinks. It returns the
// best value at the largest budget.
func run(t *testing.T, p searchtest.Problem, options string, number, rounds int) (best float64) {
	t.Helper()
	s := searchtest.Open(t, Plugin, p.Space, options, 1)
	noise := space.NewRand(uint64(number))
	best = math.Inf(1)
	trial := 0
	for range rounds {
		type candidate struct {
			no   int
			p    space.Point
			loss float64
		}
		var all []candidate
		for range 9 {
			q := searchtest.Suggest(t, s, searchtest.Request(number, trial)).Points[0]
			if err := p.Space.Check(q); err != nil {
				t.Fatal(err)
			}
			searchtest.Observe(t, s, searchtest.Added(trial, q))
			all = append(all, candidate{no: trial, p: q})
			trial++
		}
		for budget := uint64(1); budget <= 9; budget *= 3 {
			for i := range all {
				all[i].loss = p.Loss(all[i].p) + 0.05*noise.NormFloat64()/float64(budget)
				kind := sdk.TrialPaused
				if budget == 9 {
					kind, best = sdk.TrialCompleted, min(best, p.Loss(all[i].p))
				}
				searchtest.Observe(t, s, at(sdk.ResultReported, all[i].no, budget, all[i].loss),
					at(kind, all[i].no, budget, all[i].loss))
			}
			slices.SortFunc(all, func(a, b candidate) int { return int(math.Copysign(1, a.loss-b.loss)) })
			all = all[:max(1, len(all)/3)]
		}
	}
	return best
}

func mean(t *testing.T, p searchtest.Problem, options string) (mean float64) {
	for number := range 6 {
		mean += run(t, p, options, number, 30) / 6
	}
	return mean
}

// The limits lie between the usual result and the result of random points.
func TestConverges(t *testing.T) {
	limits := map[string]float64{"branin": 0.58, "hartmann6": -2.6, "mixed": 0.5, "conditional": 0.085}
	for _, p := range searchtest.Problems() {
		t.Run(p.Name, func(t *testing.T) {
			got, random := mean(t, p, "{}"), mean(t, p, `{"random": 1}`)
			if t.Logf("%.4f; random %.4f", got, random); got > limits[p.Name] || random < limits[p.Name] {
				t.Errorf("best loss %.4f, random %.4f; want a limit of %.4f between", got, random, limits[p.Name])
			}
		})
	}
}

// The model is that of the largest budget with enough results, whatever happens at smaller ones; a
// trial counts once at each budget.
func TestBudgets(t *testing.T) {
	s := searchtest.Open(t, Plugin, searchtest.Reals(2, 0, 1), "{}", 1).(*searcher)
	for i := range 12 {
		p := space.Point{float64(i) / 12, 0.5}
		searchtest.Observe(t, s, searchtest.Added(i, p), at(sdk.TrialPaused, i, 1, float64(i)),
			at(sdk.TrialPaused, i, 1, float64(i)))
	}
	if h := s.history; h.largest != 1 || len(h.budgets[1].results) != 12 {
		t.Fatal(h.largest, len(h.budgets[1].results))
	}
	for i := range 5 { // parameters, and 3
		if s.history.largest != 1 {
			t.Fatal(i, s.history.largest)
		}
		searchtest.Observe(t, s, at(sdk.TrialCompleted, i, 3, float64(-i)))
	}
	if s.history.largest != 3 || len(s.history.model(0.15).good.rows) != 3 {
		t.Fatal(s.history.largest, len(s.history.model(0.15).good.rows))
	}
	first := s.history.model(0.15)
	searchtest.Observe(t, s, at(sdk.TrialPaused, 9, 1, -100))
	if s.history.model(0.15) != first {
		t.Error("a result at a smaller budget has changed the model")
	}
	searchtest.Observe(t, s, sdk.Event{Kind: sdk.TrialFailed, Trial: 9})
	if b := s.history.budgets[1].results; !math.IsInf(b[len(b)-1].loss, 1) || b[len(b)-1].trial != 9 {
		t.Error(b)
	}
}

// min_points raises the number of trials that a model needs, and min_bandwidth the width of its kernels.
func TestLeast(t *testing.T) {
	for _, c := range []struct {
		options string
		rows    int
		width   float64
	}{{"{}", 3, 1e-3}, {`{"min_points": 5}`, 5, 1e-3}, {`{"min_points": 1, "min_bandwidth": 0.25}`, 3, 0.25}} {
		s := searchtest.Open(t, Plugin, searchtest.Reals(2, 0, 1), c.options, 1).(*searcher)
		for i := range c.rows + 2 {
			if m := s.history.model(0.15); m != nil {
				t.Errorf("%s: a model of %d trials", c.options, i)
			}
			p := space.Point{0.5, 0.5}
			searchtest.Observe(t, s, searchtest.Added(i, p), at(sdk.TrialCompleted, i, 1, float64(i)))
		}
		m := s.history.model(0.15)
		if m == nil || len(m.good.rows) != c.rows || m.good.width[0] != c.width {
			t.Errorf("%s: %+v, expected %d rows and widths of %g", c.options, m, c.rows, c.width)
		}
	}
}

// Draws have the expected spread around the row and stay inside.
func TestAround(t *testing.T) {
	sp := searchtest.EveryForm()
	rng := space.NewRand(1)
	var results []result
	for i := range 30 {
		p, _ := sp.Sample(rng)
		results = append(results, result{uint32(i), float64(i), p})
	}
	d := newDensity(sp, results, 1e-3)
	for range 2000 {
		p := d.around(d.rows[3], 3, rng)
		if err := sp.Check(p); err != nil {
			t.Fatal(err)
		}
	}
	sum, squares := 0.0, 0.0
	for range 20_000 {
		x := truncated(0.5, 0.01, rng.Float64()) - 0.5
		sum, squares = sum+x/20_000, squares+x*x/20_000
	}
	if math.Abs(sum) > 3e-4 || math.Abs(math.Sqrt(squares)-0.01) > 3e-4 {
		t.Error(sum, math.Sqrt(squares))
	}
}

// A one-dimensional density integrates to 1 if it does not reach the ends.
func TestDensity(t *testing.T) {
	sp := searchtest.Reals(1, 0, 1)
	var results []result
	for _, x := range []float64{0.4, 0.5, 0.55} {
		results = append(results, result{point: space.Point{x}})
	}
	d, sum := newDensity(sp, results, 1e-3), 0.0
	for k := range 1000 {
		sum += math.Exp(d.log([]float64{(float64(k) + 0.5) / 1000})) / 1000
	}
	if sum /= math.Sqrt(2 * math.Pi); math.Abs(sum-1) > 1e-6 {
		t.Error(sum)
	}
}

func TestOptionMessages(t *testing.T) {
	for options, want := range map[string]string{
		`{"good": 1}`:              `option "good" is 1; allowed: a number above 0 and below 1`,
		`{"random": -1}`:           `option "random" is -1; allowed: a number from 0 to 1`,
		`{"candidates": 0}`:        `option "candidates" is 0; allowed: a whole number from 1 to 10000`,
		`{"bandwidth_factor": -1}`: `option "bandwidth_factor" is -1; allowed: a number above 0 and at most 100`,
	} {
		if _, _, err := Plugin.Open(sdk.Problem{Space: &space.Space{}}, []byte(options)); err == nil ||
			err.Error() != want {
			t.Errorf("%s: %v", options, err)
		}
	}
}

func TestValuesMissing(t *testing.T) { searchtest.ValuesMissing(t, Plugin) }

// A model has good trials: those without a finite loss are none, however many have ended.
func TestGoodOnesHaveValues(t *testing.T) {
	s := searchtest.Open(t, Plugin, searchtest.Reals(1, 0, 1), "{}", 1).(*searcher)
	end := func(trial int, loss float64) {
		e := searchtest.Completed(trial, loss)
		e.Iteration = 1
		searchtest.Observe(t, s, searchtest.Added(trial, space.Point{float64(trial) / 100}), e)
	}
	for i := range 30 {
		end(i, math.Inf(1))
	}
	if s.history.model(s.Good) != nil {
		t.Error("a model without a value")
	}
	end(30, 1)
	end(31, 2)
	m := s.history.model(s.Good)
	if m == nil || len(m.good.rows) != 2 || m.good.rows[0][0] != 0.30 || len(m.bad.rows) != 30 {
		t.Errorf("%+v", m)
	}
}

func TestRetried(t *testing.T) { searchtest.Retried(t, Plugin) }
