package tpe

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/answer"
)

const (
	// maxProposals is how often the model is asked for a point that is new and satisfies the
	// constraints, before points are drawn at random.
	maxProposals = 16
)

// Plugin is the searcher to be served.
var Plugin = sdk.SearcherPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindSearcher,
		Name:    "tpe",
		Version: "1.4.0",
		Summary: "Models the densities of good and bad trials (tree-structured Parzen estimator), and searches where " +
			"good ones prevail.",
		Options: declared.Schema(),
	},
	Open: open,
}

type searcher struct {
	options     options
	space       *space.Space
	seen        *space.Seen
	coordinates []coordinate
	groups      []group
	history     *history
	// finite: no point may occur twice, so each candidate is looked up.
	finite bool
}

func open(problem sdk.Problem, text []byte) (sdk.Searcher, sdk.Traits, error) {
	o, err := declared.Read(text)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	seen, err := answer.Seen(problem.Space, o.Repeats)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	s := newSearcher(problem, o, seen)
	if !o.Repeats {
		_, s.finite = problem.Space.Size(answer.MaxPoints)
	}
	return s, sdk.Traits{}, nil
}

func newSearcher(problem sdk.Problem, o options, seen *space.Seen) *searcher {
	s := &searcher{options: o, space: problem.Space, seen: seen}
	for i := range problem.Space.Params {
		s.coordinates = append(s.coordinates, newCoordinate(problem.Space, i))
	}
	s.groups = newGroups(problem.Space, s.coordinates, o.Multivariate)
	s.history = newHistory(s.coordinates, s.groups, max(1, len(problem.Objectives)))
	return s
}

// Observe updates the models' data.
func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	for i := range events {
		if err := s.history.observe(&events[i]); err != nil {
			return err
		}
		if events[i].Kind == sdk.TrialAdded {
			s.seen.Add(events[i].Point)
		}
	}
	return nil
}

// Suggest answers each request separately, with the points of earlier requests as running trials.
func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	return answer.Each(ctx, requests, func(request sdk.Request) (space.Point, error) {
		s.history.forget(request.Trial)
		p, err := s.suggest(request)
		if p != nil {
			s.history.ask(request.Trial, p)
		}
		return p, err
	})
}

// suggest returns nil if there is no point left.
func (s *searcher) suggest(request sdk.Request) (space.Point, error) {
	if err := s.space.CheckGiven(request.Given); err != nil {
		return nil, err
	}
	rng := space.NewRand(request.Seed)
	modelled := s.history.finite >= s.options.Startup
	if s.history.fidelity.Blind(rng) {
		modelled = false
	}
	return s.seen.Pick(request.Given, rng, func(try int) space.Point {
		if modelled && try < maxProposals {
			if p := s.propose(request.Given, rng); p != nil {
				return p
			}
			modelled = false
		}
		return s.space.Draw(rng)
	})
}
