package reference

import (
	"context"
	"encoding/json"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// maxPoints is the maximum size of a finite space whose points are remembered.
const maxPoints = 10_000

// Searcher draws random points, without repetition in a finite space.
var Searcher = sdk.SearcherPlugin{
	Info: sdk.Info{
		Kind: sdk.KindSearcher, Name: "reference", Version: "1.0.0",
		Summary: "Draws random points, as an example of a searcher.",
		Options: searcherOptions.Schema(),
	},
	Open: openSearcher,
}

type searcher struct {
	space *space.Space
	seen  *space.Seen
	added []space.Point // all that a snapshot needs
}

// searcherOptions declares whether points may be repeated.
var searcherOptions = option.Declare(func(repeats *bool) []option.Option {
	return []option.Option{
		option.Bool("repeats", repeats, false, "Whether a point of a finite space may be suggested again."),
	}
})

func openSearcher(p sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
	repeats, err := searcherOptions.Read(options)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	if err := p.Space.Validate(); err != nil {
		return nil, sdk.Traits{}, err
	}
	limit := maxPoints
	if repeats {
		limit = 0
	}
	seen, err := space.NewSeen(p.Space, limit)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return &searcher{space: p.Space, seen: seen}, sdk.Traits{Independent: true}, nil
}

// Observe remembers which points are used up.
func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	for _, e := range events {
		if e.Kind == sdk.TrialAdded {
			s.seen.Add(e.Point)
			s.added = append(s.added, e.Point)
		}
	}
	return nil
}

// Suggest draws a point for each request from its own seed, with the given coordinates.
func (s *searcher) Suggest(_ context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	var answer sdk.Suggestions
	for _, r := range requests {
		rng := space.NewRand(r.Seed)
		p, err := s.seen.Pick(r.Given, rng, func(int) space.Point { return s.space.Draw(rng) })
		if err != nil {
			return sdk.Suggestions{}, err
		}
		if p == nil {
			answer.Status = sdk.Exhausted
			break
		}
		answer.Points = append(answer.Points, p)
	}
	return answer, nil
}

// Snapshot returns the points that are used up, as JSON with null for NaN.
func (s *searcher) Snapshot() ([]byte, error) {
	list := make([][]*float64, len(s.added))
	for i, p := range s.added {
		for j := range p {
			list[i] = append(list[i], number(&p[j]))
		}
	}
	return json.Marshal(list)
}

// number returns nil for NaN.
func number(x *float64) *float64 {
	if *x != *x {
		return nil
	}
	return x
}

// Restore reads a snapshot.
func (s *searcher) Restore(snapshot []byte) error {
	var list [][]*float64
	if err := json.Unmarshal(snapshot, &list); err != nil {
		return err
	}
	for _, values := range list {
		p := s.space.Complete() // all NaN
		for j, x := range values {
			if x != nil {
				p[j] = *x
			}
		}
		s.seen.Add(p)
		s.added = append(s.added, p)
	}
	return nil
}
