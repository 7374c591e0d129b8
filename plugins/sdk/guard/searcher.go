package guard

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A Searcher is an opened searcher.
type Searcher struct {
	mu     sync.Mutex
	impl   sdk.Searcher
	traits sdk.Traits
	dims   int
}

// OpenSearcher opens a searcher, from a snapshot if it is not empty.
func OpenSearcher(p sdk.SearcherPlugin, problem sdk.Problem, opts, snapshot []byte) (*Searcher, error) {
	s := &Searcher{dims: len(problem.Space.Params)}
	err := protect("Open", func() (err error) {
		s.impl, s.traits, err = p.Open(problem, options(opts))
		return err
	})
	if err == nil && s.impl == nil {
		err = errNothing
	}
	if err == nil {
		err = restore(s.impl, snapshot)
	}
	return s, err
}

// Traits returns the traits that Open returned.
func (s *Searcher) Traits() sdk.Traits { return s.traits }

// Snapshots reports whether the searcher supports snapshots.
func (s *Searcher) Snapshots() bool {
	_, ok := s.impl.(sdk.Snapshotter)
	return ok
}

// Snapshot returns the searcher's state.
func (s *Searcher) Snapshot() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return snapshot(s.impl)
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
		return fmt.Errorf("it returned %d points for %d requests", points, asked)
	case points < asked && answer.Status == sdk.Ready:
		return fmt.Errorf("it returned %d points for %d requests without a reason (wait or exhausted)", points,
			asked)
	}
	for i, p := range answer.Points {
		if len(p) != dims {
			return fmt.Errorf("its point for trial %d has %d values; the space has %d parameters", requests[i].Trial,
				len(p), dims)
		}
	}
	return nil
}
