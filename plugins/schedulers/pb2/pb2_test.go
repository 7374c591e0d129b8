package pb2

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/evolve"
	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// B-010, B-015
func TestStories(t *testing.T) {
	schedtest.Stories(t, Plugin, schedtest.Mixed, "testdata")
}

// Whatever fails, no trial waits for ever and only paused trials get commands; batching does not
// matter.
func TestEveryTrialEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sim := schedtest.DrawSim(t, schedtest.Limits{Trials: 12, Length: 20, Failing: 20})
		sim.Limit, sim.Point = 500, schedtest.MixedPoint
		options := fmt.Sprintf(`{"interval": 2, "quantile": 0.4, "sync": %v}`, rapid.Bool().Draw(t, "sync"))
		problem := schedtest.MixedProblem(sim.Trials)
		inside(t, sim.Ends(t, func() sdk.Scheduler { return schedtest.Open(t, Plugin, problem, options) }))
	})
}

func TestChaos(t *testing.T) {
	for _, options := range []string{`{"interval": 2}`, `{"interval": 1, "quantile": 0.5, "model": ["lr"]}`,
		`{"interval": 2, "sync": true, "max": 9}`} {
		schedtest.Chaos(t, Plugin, schedtest.MixedProblem(5), options)
	}
}

// inside checks that values are within the bounds, on the steps, and in the space.
func inside(t *rapid.T, h schedtest.History) {
	for _, c := range h.Out.Commands {
		if c.Kind != sdk.Exploit {
			continue
		}
		if err := schedtest.Mixed.Check(c.Point); err != nil {
			t.Fatalf("trial %d explores %v: %v", c.Trial, c.Point, err)
		}
	}
}

// single has one number.
var single = &space.Space{Params: []space.Param{{Name: "x", Kind: space.Real, Low: 10, High: 20}}}

func banditOf(t *testing.T, sp *space.Space) *bandit {
	x, err := evolve.NewPerturber(sp, evolve.Options{Factors: []float64{1.2, 0.8}})
	if err != nil {
		t.Fatal(err)
	}
	b := &bandit{Perturber: x, interval: 1, last: map[uint32]evolve.Standing{}}
	if b.modelled, err = modelled(x, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

// Trials at 17 improve most, so 17 is chosen, although the donor is elsewhere.
func TestLearnsWhatImproves(t *testing.T) {
	b := banditOf(t, single)
	loss := map[uint32]float64{}
	for i := range uint64(8) {
		for trial := range uint32(6) {
			x := 10 + 2*float64(trial)
			loss[trial] -= 1 - (x-17)*(x-17)/50
			b.Ranked(evolve.Standing{Trial: trial, Iteration: i, Loss: loss[trial], Point: space.Point{x}})
		}
	}
	p := b.Explore(9, evolve.Standing{Trial: 0, Iteration: 8, Loss: loss[0], Point: space.Point{10}}, space.NewRand(1))
	if math.Abs(p[0]-17) > 1.5 {
		t.Errorf("chosen: %v, want about 17", p)
	}
}

// Recent observations count more than old ones.
func TestForgets(t *testing.T) {
	b := banditOf(t, single)
	loss := map[uint32]float64{}
	for i := range uint64(40) {
		for trial := range uint32(5) {
			x, good := 10+2.5*float64(trial), 12.5
			if i > 20 {
				good = 17.5
			}
			if x == good {
				loss[trial]--
			}
			b.Ranked(evolve.Standing{Trial: trial, Iteration: i, Loss: loss[trial], Point: space.Point{x}})
		}
	}
	p := b.Explore(9, evolve.Standing{Trial: 0, Iteration: 40, Loss: loss[3], Point: space.Point{10}}, space.NewRand(1))
	if p[0] <= 15 {
		t.Errorf("chosen: %v, want nearer to 17.5 than to 12.5", p)
	}
}

// Compares the process with the textbook formula, solved by elimination.
func TestProcessAgainstElimination(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		coordinate := rapid.Float64Range(0, 1)
		drawn := func(name string) input {
			return input{float64(rapid.IntRange(0, 9).Draw(t, name)),
				[]float64{coordinate.Draw(t, name), coordinate.Draw(t, name)}}
		}
		k := newKernel(rapid.Float64Range(0.1, 2).Draw(t, "length"), rapid.Float64Range(0, 0.5).Draw(t, "epsilon"))
		var inputs []input
		var y []float64
		for range rapid.IntRange(1, 8).Draw(t, "n") {
			inputs, y = append(inputs, drawn("input")), append(y, rapid.Float64Range(-2, 2).Draw(t, "y"))
		}
		p, at := condition(k, inputs, y), drawn("at")
		like, covariance := make([]float64, len(y)), make([][]float64, len(y))
		for i := range inputs {
			like[i] = k.similarity(at, inputs[i])
			for j := range inputs {
				covariance[i] = append(covariance[i], k.similarity(inputs[i], inputs[j]))
			}
			covariance[i][i] += noise
		}
		inverse := inverse(covariance)
		mean, variance := dot(like, times(inverse, y)), 1-dot(like, times(inverse, like))
		if got := p.mean(at); math.Abs(got-mean) > 1e-9 {
			t.Fatalf("mean %v, want %v", got, mean)
		}
		if got := p.deviation(at); math.Abs(got*got-variance) > 1e-9 {
			t.Fatalf("variance %v, want %v", got*got, variance)
		}
	})
}

// Equal decreases have no information, whatever rounding does to their mean.
func TestStandardisedOfEqualsIsZero(t *testing.T) {
	for n := 1; n < 70; n++ {
		for _, y := range standardised(slices.Repeat([]float64{-0.7}, n)) {
			if math.Abs(y) > 1e-9 {
				t.Fatalf("%d equal falls are standardised to %v", n, y)
			}
		}
	}
}

func TestPortable(t *testing.T) {
	for x := 1e-9; x < 700; x *= 1.3 {
		if got, want := decay(x), math.Exp(-x); math.Abs(got-want) > 1e-12*want {
			t.Errorf("e^-%v is %v, want %v", x, got, want)
		}
		if got, want := ln(x), math.Log(x); math.Abs(got-want) > 1e-13*max(1, math.Abs(want)) {
			t.Errorf("ln %v is %v, want %v", x, got, want)
		}
	}
	if decay(0) != 1 || decay(1e9) != 0 {
		t.Errorf("decay: %v, %v", decay(0), decay(1e9))
	}
}

func TestModelled(t *testing.T) {
	for _, c := range []struct{ options, want string }{
		{`{"model": ["lr", "batch"]}`, ""},
		{`{"model": ["momentum"]}`, `"momentum" is not a number that always exists`},
		{`{"model": ["optimizer"]}`, `"optimizer" is not a number that always exists`},
		{`{"model": ["lr"], "mutate": ["batch"]}`, `"lr" is not a number that always exists and may change`},
		{`{"model": ["lrr"]}`, `"lrr" is not a parameter of the space`},
	} {
		_, _, err := Plugin.Open(schedtest.MixedProblem(5), []byte(c.options))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.options, err, c.want)
		}
	}
}

func BenchmarkExplore(b *testing.B) {
	x, err := evolve.NewPerturber(schedtest.Mixed, declared.Defaults().Options)
	if err != nil {
		b.Fatal(err)
	}
	explores := &bandit{Perturber: x, interval: 1, last: map[uint32]evolve.Standing{}, modelled: []int{0, 1, 2, 3}}
	rng := space.NewRand(1)
	for i := range uint64(60) {
		for trial := range uint32(4) {
			explores.Ranked(evolve.Standing{Trial: trial, Iteration: i, Loss: rng.Float64(),
				Point: schedtest.Mixed.Draw(rng)})
		}
	}
	from := evolve.Standing{Iteration: 60, Loss: 0.5, Point: schedtest.Mixed.Draw(rng)}
	for b.Loop() {
		explores.Explore(1, from, rng)
	}
}
