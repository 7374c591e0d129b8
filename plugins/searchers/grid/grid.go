package grid

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Plugin is the searcher to be served.
var Plugin = sdk.SearcherPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindSearcher,
		Name:    "grid",
		Version: "1.3.0",
		Summary: "Suggests every combination of the parameters' values once.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct{ Resolution int }

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("resolution", &o.Resolution, 5, option.From(1).To(1_000_000),
			"The number of values of a continuous parameter."),
	}
})

type searcher struct {
	space   *space.Space
	axes    []space.Axis
	seen    map[string]bool    // keys of points that were suggested or tried
	cursors map[string]*cursor // by the key of the given coordinates
	cells   cells
	turns   turns
}

// A cursor enumerates the points around given coordinates.
type cursor struct {
	walk   *space.Walk
	points int  // number passed so far
	again  bool // second pass, including known points
}

func open(problem sdk.Problem, text []byte) (sdk.Searcher, sdk.Traits, error) {
	o, err := declared.Read(text)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	if err := problem.Space.Validate(); err != nil {
		return nil, sdk.Traits{}, err
	}
	s := &searcher{space: problem.Space, seen: map[string]bool{}, cursors: map[string]*cursor{},
		turns: turns{runs: map[string]int{}, own: map[string]int{}}}
	for i := range s.space.Params {
		s.axes = append(s.axes, axis(s.space, i, o.Resolution))
	}
	s.cells = newCells(s.space, s.axes)
	return s, sdk.Traits{Independent: true, CombinesGrid: true}, nil
}

// axis returns all values of parameter i, or a sample of a continuous range.
func axis(s *space.Space, i, resolution int) space.Axis {
	if whole, ok := s.Axis(i); ok {
		return whole
	}
	place := func(k int64) float64 { return float64(k) / float64(resolution-1) }
	if s.Params[i].Kind == space.Normal || resolution == 1 {
		place = func(k int64) float64 { return (float64(k) + 0.5) / float64(resolution) }
	}
	return space.Axis{Count: int64(resolution), Value: func(k int64) float64 {
		return s.Quantise(i, short(s.FromUnit(i, place(k))))
	}}
}

// short removes digits that are only rounding: 0.001 instead of 0.0010000000000000002.
func short(x float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	if err != nil {
		return x // beyond the largest number
	}
	return rounded
}

// Observe remembers the points of trials, which may differ from the suggestions.
func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	for _, e := range events {
		if e.Kind == sdk.TrialAdded && len(e.Point) == len(s.axes) {
			key := s.space.Key(e.Point)
			s.seen[key] = true
			s.turns.observe(key)
		}
	}
	return nil
}

// Suggest answers each request with the next point around its given coordinates.
func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	var answer sdk.Suggestions
	for _, request := range requests {
		p, err := s.answer(ctx, request)
		if err != nil {
			return sdk.Suggestions{}, fmt.Errorf("trial %d: %w", request.Trial, err)
		}
		if p == nil {
			answer.Status = sdk.Exhausted
			break
		}
		key := s.space.Key(p)
		s.seen[key] = true
		s.turns.suggest(key)
		answer.Points = append(answer.Points, p)
	}
	return answer, nil
}

// answer returns nil at the end.
func (s *searcher) answer(ctx context.Context, request sdk.Request) (space.Point, error) {
	switch {
	case request.Given != nil:
		return s.suggest(ctx, request.Given)
	case s.cells.count == 0:
		return nil, errTight
	case s.cells.alone:
		return s.inTurn(), nil
	}
	return s.fromCells(ctx, uint64(request.Trial))
}

// inTurn returns the first combination that has run least often.
func (s *searcher) inTurn() space.Point {
	for ; ; s.turns.at++ {
		if s.turns.at == s.cells.count {
			s.turns.at, s.turns.level = 0, s.turns.level+1
		}
		p := s.space.Complete(s.cells.point(s.turns.at), s.cells.first)
		if s.turns.runs[s.space.Key(p)] <= s.turns.level {
			return p
		}
	}
}

// fromCells returns the next new point of the trial's cell, or of the next cell that has one: with
// conditions and constraints some cells have fewer points than others.
func (s *searcher) fromCells(ctx context.Context, trial uint64) (space.Point, error) {
	for !s.cells.ended() {
		cell := s.cells.next(trial)
		p, err := s.next(ctx, s.cursor(s.cells.point(cell)))
		switch {
		case errors.Is(err, errTight):
		case p != nil || err != nil:
			s.cells.found = s.cells.found || err == nil
			return p, err
		default:
			s.cells.found = true // points that were tried
		}
		s.cells.end(cell)
	}
	if !s.cells.found {
		return nil, errTight
	}
	return nil, nil
}

// suggest returns nil at the end.
func (s *searcher) suggest(ctx context.Context, given space.Point) (space.Point, error) {
	if err := s.space.CheckGiven(given); err != nil {
		return nil, err
	}
	if whole := s.space.Complete(given); s.space.Check(whole) == nil {
		return whole, nil
	}
	c := s.cursor(given)
	p, err := s.next(ctx, c)
	if p == nil && err == nil && s.startsOver(c, given) {
		*c = cursor{walk: s.walk(given), again: true}
		return s.next(ctx, c)
	}
	return p, err
}

func (s *searcher) cursor(given space.Point) *cursor {
	if given == nil {
		given = s.space.Complete() // all NaN
	}
	key := s.space.Key(given)
	if s.cursors[key] == nil {
		s.cursors[key] = &cursor{walk: s.walk(given)}
	}
	return s.cursors[key]
}

func (s *searcher) walk(given space.Point) *space.Walk {
	return s.space.NewWalk(space.GivenAxes(s.axes, given))
}

// startsOver reports whether the given coordinates are suggested again when all points were.
func (s *searcher) startsOver(c *cursor, given space.Point) bool {
	fixed, user := false, false
	for i, x := range given {
		if !math.IsNaN(x) {
			fixed, user = true, user || !s.space.Params[i].Grid
		}
	}
	return user || fixed && c.points == 1
}

// errTight is returned if a cursor finds no point at all.
var errTight = errors.New("no point of the grid satisfies the constraints: loosen them, or raise the option resolution")

// next returns the cursor's next new point, or nil at the end.
func (s *searcher) next(ctx context.Context, c *cursor) (space.Point, error) {
	for steps := 0; c.walk.Advance(); steps++ {
		if steps%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p := c.walk.Point()
		if p == nil {
			continue
		}
		c.points++
		if c.again || !s.seen[s.space.Key(p)] {
			return slices.Clone(p), nil
		}
	}
	if c.points == 0 {
		return nil, errTight
	}
	return nil, nil
}
