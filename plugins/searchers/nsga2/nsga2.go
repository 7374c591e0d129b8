package nsga2

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
		Name:    "nsga2",
		Version: "1.2.0",
		Summary: "Evolves a population towards the Pareto front of several objectives (NSGA-II).",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Population int
	Crossover  float64
	Mutation   float64
	Repeats    bool
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("population", &o.Population, 40, option.From(4).To(10_000),
			"The size of the population; until so many trials have succeeded, points are random."),
		option.Float("crossover", &o.Crossover, 0.9, option.From(0).To(1),
			"The probability that a child has two parents."),
		option.Float("mutation", &o.Mutation, 0, option.From(0).To(1),
			"The probability that a parameter of a child is changed; 0: one in each child on average."),
		answer.RepeatsAnywhere(&o.Repeats),
	}
})

type searcher struct {
	options
	space  *space.Space
	seen   *space.Seen
	trials *outcomes.Trials
	// points are those of successful trials, in the order of their ends; population are the
	// survivors.
	points     map[int]space.Point
	ended      int
	population []pareto.Scored
	// ranks are the population's ranks, or nil if they must be computed.
	ranks []rank
}

func open(problem sdk.Problem, text []byte) (sdk.Searcher, sdk.Traits, error) {
	o, err := declared.Read(text)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	s := &searcher{options: o, space: problem.Space, trials: outcomes.New(problem), points: map[int]space.Point{}}
	s.seen, err = answer.SeenAll(problem.Space, s.Repeats)
	return s, sdk.Traits{}, err
}

// Observe adds successful trials to the population and removes the worst.
func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	for i := range events {
		if events[i].Kind == sdk.TrialAdded {
			s.seen.Add(events[i].Point)
		}
		o, err := s.trials.Observe(&events[i])
		if err != nil {
			return err
		}
		if o != nil && o.Finite() {
			s.join(o)
		}
	}
	return nil
}

func (s *searcher) join(o *outcomes.Outcome) {
	s.points[s.ended] = o.Point
	s.population = append(s.population, pareto.Scored{Trial: s.ended, Losses: o.Losses})
	s.ended++
	s.ranks = nil
	if len(s.population) <= s.Population {
		return
	}
	s.population = slices.Clone(pareto.Choose(s.population, s.Population, pareto.Crowded))
	points := map[int]space.Point{}
	for _, t := range s.population {
		points[t.Trial] = s.points[t.Trial]
	}
	s.points = points
}

// Suggest answers each request separately.
func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	return answer.Each(ctx, requests, func(request sdk.Request) (space.Point, error) {
		rng := space.NewRand(request.Seed)
		return s.seen.Pick(request.Given, rng, func(try int) space.Point {
			if len(s.population) < s.Population || try >= maxChildren {
				return s.space.Draw(rng)
			}
			return s.child(request.Given, rng)
		})
	})
}

// A rank has the number of a trial's front, and its crowding distance.
type rank struct {
	front int
	room  float64
}

// standing ranks the population.
func (s *searcher) standing() []rank {
	if s.ranks != nil {
		return s.ranks
	}
	s.ranks = make([]rank, len(s.population))
	place := make(map[int]int, len(s.population))
	for i, t := range s.population {
		place[t.Trial] = i
	}
	for k, front := range pareto.Layers(s.population, len(s.population)) {
		for i, room := range pareto.Crowding(front) {
			s.ranks[place[front[i].Trial]] = rank{k, room}
		}
	}
	return s.ranks
}

// parent returns the winner of a tournament of two.
func (s *searcher) parent(rng *rand.Rand) space.Point {
	ranks := s.standing()
	a, b := rng.IntN(len(s.population)), rng.IntN(len(s.population))
	if ranks[b].front < ranks[a].front || ranks[b].front == ranks[a].front && ranks[b].room > ranks[a].room {
		a = b
	}
	return s.points[s.population[a].Trial]
}

// child creates a child of two parents, or one.
func (s *searcher) child(given space.Point, rng *rand.Rand) space.Point {
	mother, father := s.parent(rng), s.parent(rng)
	p := slices.Clone(mother)
	if rng.Float64() < s.Crossover {
		s.cross(p, father, rng)
	}
	s.mutate(p, rng)
	// A parameter that exists only now is copied from the second parent, if it has one.
	return s.space.Complete(given, p, father, s.space.Draw(rng))
}

// cross copies to p each parameter that both have from father with probability one half.
func (s *searcher) cross(p, father space.Point, rng *rand.Rand) {
	for i := range p {
		mix, u := rng.IntN(2) == 0, rng.Float64()
		if !mix || math.IsNaN(p[i]) || math.IsNaN(father[i]) {
			continue
		}
		if s.space.Params[i].Kind == space.Choice {
			p[i] = father[i]
			continue
		}
		a, b := s.space.ToUnit(i, p[i]), s.space.ToUnit(i, father[i])
		if rng.IntN(2) == 0 {
			a, b = b, a
		}
		p[i] = s.space.FromUnit(i, within(blend(a, b, u)))
	}
}

// mutate changes each parameter with the same small probability.
func (s *searcher) mutate(p space.Point, rng *rand.Rand) {
	chance := s.Mutation
	if chance == 0 {
		chance = 1 / float64(max(1, exist(p)))
	}
	for i := range p {
		if hit, u := rng.Float64() < chance, rng.Float64(); hit && !math.IsNaN(p[i]) {
			p[i] = s.another(i, p[i], u)
		}
	}
}

func (s *searcher) another(i int, x, u float64) float64 {
	if s.space.Params[i].Kind == space.Choice {
		return s.space.FromUnit(i, u)
	}
	at := s.space.ToUnit(i, x)
	return s.space.FromUnit(i, within(at+shift(u)))
}

func exist(p space.Point) (n int) {
	for _, x := range p {
		if !math.IsNaN(x) {
			n++
		}
	}
	return n
}

func within(u float64) float64 { return max(0, min(1, u)) }
