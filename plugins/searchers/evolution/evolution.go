package evolution

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/answer"
	"github.com/tunehost/tunehost/plugins/searchers/internal/outcomes"
	"github.com/tunehost/tunehost/plugins/searchers/internal/pareto"
)

const (
	// maxChildren is how many children are tried until one is new and satisfies the constraints,
	// before points are drawn at random.
	maxChildren = 32
)

// Plugin is the searcher to be served.
var Plugin = sdk.SearcherPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindSearcher,
		Name:    "evolution",
		Version: "1.3.0",
		Summary: "Changes one parameter of the best of a few recent trials (regularised evolution); for irregular " +
			"spaces.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Population int
	Tournament int
	Step       float64
	Repeats    bool
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("population", &o.Population, 30, option.From(2).To(100_000),
			"The number of recent trials in the population; until so many have ended, points are random."),
		option.Int("tournament", &o.Tournament, 8, option.From(1).To(100_000),
			"The number of trials drawn for each suggestion; the best of them is changed. Larger is greedier."),
		option.Float("step", &o.Step, 0.1, option.Above(0).To(1),
			"The standard deviation of the change of a number, as a share of its range."),
		answer.RepeatsAnywhere(&o.Repeats),
	}
})

type searcher struct {
	options
	space  *space.Space
	seen   *space.Seen
	trials *outcomes.Trials
	// population is the most recent trials, oldest first.
	population []*outcomes.Outcome
}

func open(problem sdk.Problem, text []byte) (sdk.Searcher, sdk.Traits, error) {
	o, err := declared.Read(text)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	if o.Tournament > o.Population {
		return nil, sdk.Traits{}, option.Wrong("tournament", o.Tournament, "1 to the population, which is %d",
			o.Population)
	}
	s := &searcher{options: o, space: problem.Space, trials: outcomes.New(problem)}
	s.seen, err = answer.SeenAll(problem.Space, s.Repeats)
	return s, sdk.Traits{}, err
}

// Observe adds ended trials to the population and removes the oldest.
func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	for i := range events {
		if events[i].Kind == sdk.TrialAdded {
			s.seen.Add(events[i].Point)
		}
		o, err := s.trials.Observe(&events[i])
		if err != nil {
			return err
		}
		if o != nil {
			s.population = outcomes.Place(s.population, o)
		}
		if len(s.population) > s.Population {
			s.population = slices.Delete(s.population, 0, 1)
		}
	}
	return nil
}

// Suggest answers each request separately.
func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	return answer.Each(ctx, requests, func(request sdk.Request) (space.Point, error) {
		rng := space.NewRand(request.Seed)
		return s.seen.Pick(request.Given, rng, func(try int) space.Point {
			if len(s.population) < s.Population || try >= maxChildren {
				return s.space.Draw(rng)
			}
			if parent := s.parent(rng); parent != nil {
				return s.child(parent, request.Given, rng)
			}
			return s.space.Draw(rng)
		})
	})
}

// parent returns the winner of a tournament, or nil if none of the few has a finite loss.
func (s *searcher) parent(rng *rand.Rand) space.Point {
	var few []pareto.Scored
	for range s.Tournament {
		i := rng.IntN(len(s.population))
		if o := s.population[i]; o.Finite() {
			few = append(few, pareto.Scored{Trial: i, Losses: o.Losses})
		}
	}
	if len(few) == 0 {
		return nil
	}
	front := pareto.Layers(few, 1)[0]
	return s.population[front[rng.IntN(len(front))].Trial].Point
}

// child returns the parent with one change, in a parameter that is not given and can change.
func (s *searcher) child(parent, given space.Point, rng *rand.Rand) space.Point {
	p := slices.Clone(parent)
	if free := s.free(parent, given); len(free) > 0 {
		i := free[rng.IntN(len(free))]
		p[i] = s.mutate(i, p[i], rng)
	}
	return s.space.Complete(given, p, s.space.Draw(rng))
}

func (s *searcher) free(p, given space.Point) (free []int) {
	for i := range p {
		isGiven := i < len(given) && !math.IsNaN(given[i])
		if !math.IsNaN(p[i]) && !isGiven && s.space.FromUnit(i, 0) != s.space.FromUnit(i, 1) {
			free = append(free, i)
		}
	}
	return free
}

// mutate returns a value of parameter i that differs from x.
func (s *searcher) mutate(i int, x float64, rng *rand.Rand) float64 {
	if s.space.Params[i].Kind == space.Choice {
		k := float64(rng.IntN(len(s.space.Params[i].Choices) - 1))
		if k >= x {
			k++
		}
		return k
	}
	y := x
	if rng.IntN(10) == 0 {
		y = s.space.FromUnit(i, rng.Float64())
	}
	u := s.space.ToUnit(i, x)
	step := float64(s.Step * normal.FromUnit(0, rng.Float64())) // not fused with the sum
	for try := 0; y == x && try < maxWider; try++ {
		y = s.space.FromUnit(i, reflect(u+step))
		step *= 2
	}
	return y
}

// maxWider is how often a step without effect is doubled.
const maxWider = 16

// normal is the standard normal distribution, with the same bits everywhere.
var normal = &space.Space{Params: []space.Param{{Name: "z", Kind: space.Normal, SD: 1}}}

// reflect folds u into [0, 1].
func reflect(u float64) float64 {
	u = math.Abs(u)
	u -= 2 * math.Floor(u/2)
	return min(u, 2-u)
}
