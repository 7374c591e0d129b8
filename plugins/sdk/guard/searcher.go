package guard

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A Searcher is an opened searcher.
type Searcher struct {
	decider[sdk.Searcher]
}

// OpenSearcher opens a searcher, from a snapshot if it is not empty.
func OpenSearcher(p sdk.SearcherPlugin, problem sdk.Problem, opts, snapshot []byte) (*Searcher, error) {
	s := &Searcher{}
	err := s.open(problem, snapshot, func() (sdk.Searcher, sdk.Traits, error) {
		return p.Open(problem, options(opts))
	})
	return s, err
}

// Observe implements sdk.Searcher.
func (s *Searcher) Observe(ctx context.Context, events []sdk.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return protect("Observe", func() error { return s.impl.Observe(ctx, events) })
}

// Suggest implements sdk.Searcher.
func (s *Searcher) Suggest(ctx context.Context, requests []sdk.Request) (answer sdk.Suggestions, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = protect("Suggest", func() (err error) {
		answer, err = s.impl.Suggest(ctx, requests)
		return err
	})
	if err == nil {
		err = CheckSuggestions(s.dims, requests, answer)
	}
	if err != nil {
		return sdk.Suggestions{}, err
	}
	answer.Points = overlay(answer.Points, requests)
	return answer, nil
}

// overlay replaces the coordinates that a request fixes. It does not modify the author's own
// slices.
func overlay(points []space.Point, requests []sdk.Request) []space.Point {
	out := make([]space.Point, len(points))
	for i, p := range points {
		out[i] = slices.Clone(p)
		for j, v := range requests[i].Given {
			if j < len(p) && !math.IsNaN(v) {
				out[i][j] = v
			}
		}
	}
	return out
}

// CheckSuggestions checks the shape of an answer: as many points as the status requires, each with
// dims values. The host checks whether they lie in the space.
func CheckSuggestions(dims int, requests []sdk.Request, answer sdk.Suggestions) error {
	points, asked := len(answer.Points), len(requests)
	switch {
	case answer.Status > sdk.Exhausted:
		return fmt.Errorf("it returned the unknown status %d", answer.Status)
	case points > asked:
		return fmt.Errorf("it returned more points (%d) than requests (%d)", points, asked)
	case points < asked && answer.Status == sdk.Ready:
		return fmt.Errorf("it returned fewer points (%d) than requests (%d) without a reason (wait or exhausted)",
			points, asked)
	}
	for i, p := range answer.Points {
		if len(p) != dims {
			return fmt.Errorf("its point for trial %d has length %d; expected %d, one for each parameter",
				requests[i].Trial, len(p), dims)
		}
	}
	return nil
}
