// Package answer has functions shared by searchers that answer each request separately.
package answer

import (
	"context"
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// MaxPoints is the maximum size of a finite space whose points are remembered.
const MaxPoints = 1 << 16

// Seen checks a space and returns a memory of its points; if points may be repeated, it remembers
// none.
func Seen(s *space.Space, repeats bool) (*space.Seen, error) { return seen(s, repeats, space.NewSeen) }

// SeenAll is like Seen, but remembers the points of every space.
func SeenAll(s *space.Space, repeats bool) (*space.Seen, error) {
	return seen(s, repeats, space.NewSeenAll)
}

func seen(s *space.Space, repeats bool, remember func(*space.Space, int) (*space.Seen, error)) (*space.Seen, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if repeats {
		return space.NewSeen(s, 0)
	}
	return remember(s, MaxPoints)
}

// Each answers requests in order with suggest, which returns a nil point if none is left. Errors
// name the trial.
func Each(ctx context.Context, requests []sdk.Request, suggest func(sdk.Request) (space.Point, error)) (sdk.Suggestions,
	error) {
	var answer sdk.Suggestions
	for _, request := range requests {
		if err := ctx.Err(); err != nil {
			return sdk.Suggestions{}, err
		}
		p, err := suggest(request)
		if err != nil {
			return sdk.Suggestions{}, fmt.Errorf("trial %d: %w", request.Trial, err)
		}
		if p == nil {
			answer.Status = sdk.Exhausted
			break
		}
		answer.Points = append(answer.Points, p)
	}
	return answer, nil
}
