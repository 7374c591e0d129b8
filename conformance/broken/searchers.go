package broken

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tunehost/tunehost/conformance/reference"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// searcher is the reference searcher with a change.
type searcher struct {
	sdk.Searcher
	problem sdk.Problem
	calls   uint64 // of Observe with events
	asked   uint64 // suggestions so far
	open    int    // trials that have not completed
	sum     float64
	first   uint64
	known   map[uint32]bool

	see    func(s *searcher, events []sdk.Event) error
	before func(s *searcher, requests []sdk.Request) []sdk.Request
	after  func(s *searcher, requests []sdk.Request, answer sdk.Suggestions) sdk.Suggestions
}

// Observe implements sdk.Searcher.
func (s *searcher) Observe(ctx context.Context, events []sdk.Event) error {
	s.calls++
	if s.see != nil {
		if err := s.see(s, events); err != nil {
			return err
		}
	}
	return s.Searcher.Observe(ctx, events)
}

// Suggest implements sdk.Searcher.
func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	asked := requests
	if s.before != nil {
		asked = s.before(s, slices.Clone(requests))
	}
	answer, err := s.Searcher.Suggest(ctx, asked)
	if err == nil && s.after != nil {
		answer = s.after(s, requests, answer)
	}
	s.asked += uint64(len(requests))
	return answer, err
}

func searchers() []Plugin {
	return slices.Concat(searchersOutside(), searchersUnsteady(), searchersOfFiniteSpaces(), searchersOfEvents(),
		searchersOfWords())
}

func searcherThat(name string, change searcher) Plugin {
	return searcherFrom(name, reference.Searcher, change)
}

// combining declares that the reference searcher combines grid axes, which it does not.
func combining() sdk.SearcherPlugin {
	p := reference.Searcher
	opens := p.Open
	p.Open = func(problem sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
		s, traits, err := opens(problem, options)
		traits.CombinesGrid = true
		return s, traits, err
	}
	return p
}

func searcherFrom(name string, p sdk.SearcherPlugin, change searcher) Plugin {
	opens := p.Open
	p.Open = func(problem sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
		inner, traits, err := opens(problem, options)
		s := change
		s.Searcher, s.problem, s.known = inner, problem, map[uint32]bool{}
		return &s, traits, err
	}
	return Plugin{name, sdk.KindSearcher, value(p)}
}

// points changes each point of an answer.
func points(f func(s *searcher, p space.Point)) searcher {
	return searcher{after: func(s *searcher, _ []sdk.Request, answer sdk.Suggestions) sdk.Suggestions {
		for i := range answer.Points {
			answer.Points[i] = slices.Clone(answer.Points[i])
			f(s, answer.Points[i])
		}
		return answer
	}}
}

func searchersOutside() []Plugin {
	return []Plugin{
		searcherThat("searcher-outside-the-bounds", points(func(s *searcher, p space.Point) {
			if x := s.problem.Space.Params[0]; x.Kind == space.Real {
				p[0] = x.High + math.Abs(x.High)/100
			}
		})),
		searcherThat("searcher-between-the-steps", points(func(s *searcher, p space.Point) {
			for i, x := range s.problem.Space.Params {
				if x.Kind == space.Real && x.Step > 0 {
					p[i] += x.Step / 3
				}
			}
		})),
		searcherThat("searcher-fractions-of-integers", points(func(s *searcher, p space.Point) {
			for i, x := range s.problem.Space.Params {
				if x.Kind == space.Int && x.High-x.Low > 1 && x.High-x.Low < 1e6 {
					p[i] = (x.Low + x.High) / 2.001
				}
			}
		})),
		searcherThat("searcher-beyond-the-choices", points(func(s *searcher, p space.Point) {
			for i, x := range s.problem.Space.Params {
				if x.Kind == space.Ordinal {
					p[i] = float64(len(x.Choices))
				}
			}
		})),
		searcherThat("searcher-ignores-conditions", points(func(s *searcher, p space.Point) {
			for i := range p {
				if math.IsNaN(p[i]) {
					p[i] = s.problem.Space.FromUnit(i, 0.5)
				}
			}
		})),
		searcherThat("searcher-ignores-constraints", points(func(s *searcher, p space.Point) {
			if len(s.problem.Space.Constraints) > 0 {
				p[0], p[1] = s.problem.Space.FromUnit(0, 0.999), s.problem.Space.FromUnit(1, 0.999)
			}
		})),
		searcherThat("searcher-ignores-what-is-given",
			searcher{before: func(_ *searcher, requests []sdk.Request) []sdk.Request {
				for i := range requests {
					requests[i].Given = nil
				}
				return requests
			}}),
	}
}

// seeds changes the seed of each request.
func seeds(f func(s *searcher, i int, r *sdk.Request)) searcher {
	return searcher{before: func(s *searcher, requests []sdk.Request) []sdk.Request {
		for i := range requests {
			f(s, i, &requests[i])
		}
		return requests
	}}
}

// unconditional refuses spaces with conditions or constraints, as simple searchers do.
func unconditional() sdk.SearcherPlugin {
	p := reference.Searcher
	opens := p.Open
	p.Open = func(problem sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
		conditional := func(x space.Param) bool { return x.When != nil }
		if len(problem.Space.Constraints) > 0 || slices.ContainsFunc(problem.Space.Params, conditional) {
			return nil, sdk.Traits{}, errors.New("it knows no conditions")
		}
		return opens(problem, options)
	}
	return p
}

func searchersUnsteady() []Plugin {
	return []Plugin{
		searcherFrom("searcher-seeded-by-the-clock-without-conditions", unconditional(),
			seeds(func(_ *searcher, _ int, r *sdk.Request) { r.Seed ^= uint64(time.Now().UnixNano()) })),
		searcherThat("searcher-seeded-by-the-clock", seeds(func(_ *searcher, _ int, r *sdk.Request) {
			r.Seed ^= uint64(time.Now().UnixNano())
		})),
		searcherThat("searcher-of-a-maps-order", seeds(func(_ *searcher, _ int, r *sdk.Request) {
			r.Seed ^= mapOrder()
		})),
		searcherThat("searcher-counts-batches-of-events",
			seeds(func(s *searcher, _ int, r *sdk.Request) { r.Seed ^= s.calls })),
		searcherThat("searcher-counts-requests-in-a-call", seeds(func(s *searcher, i int, r *sdk.Request) {
			if i == 0 {
				s.first = r.Seed
			}
			r.Seed = s.first + uint64(i)
		})),
		searcherThat("searcher-counts-its-suggestions",
			seeds(func(s *searcher, i int, r *sdk.Request) { r.Seed ^= s.asked + uint64(i) })),
		searcherThat("searcher-not-independent", searcher{
			see: func(s *searcher, events []sdk.Event) error {
				for _, e := range events {
					if e.Kind == sdk.TrialCompleted && len(e.Losses) > 0 {
						s.sum = e.Losses[0]
					}
				}
				return nil
			},
			before: seeds(func(s *searcher, _ int, r *sdk.Request) { r.Seed ^= math.Float64bits(s.sum) }).before,
		}),
		searcherFrom("searcher-combines-no-grid", combining(), searcher{}),
		{"searcher-forgets-in-snapshots", sdk.KindSearcher, value(forgetsEvents())},
	}
}

// mapOrder returns the order in which Go iterates over a map.
func mapOrder() (order uint64) {
	const keys = 32
	m := map[uint64]bool{}
	for k := range uint64(keys) {
		m[k] = true
	}
	for k := range m {
		order = order*keys + k
	}
	return order
}

// forgetful makes empty snapshots.
type forgetful struct{ sdk.Searcher }

// Snapshot implements sdk.Snapshotter.
func (forgetful) Snapshot() ([]byte, error) { return []byte("[]"), nil }

// Restore implements sdk.Snapshotter.
func (forgetful) Restore([]byte) error { return nil }

func forgetsEvents() sdk.SearcherPlugin {
	p := reference.Searcher
	p.Open = func(problem sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
		s, traits, err := reference.Searcher.Open(problem, options)
		return forgetful{s}, traits, err
	}
	return p
}

func searchersOfFiniteSpaces() []Plugin {
	repeating := reference.Searcher
	repeating.Open = func(p sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
		if string(options) == "{}" {
			options = []byte(`{"repeats": true}`)
		}
		return reference.Searcher.Open(p, options)
	}
	return []Plugin{
		{"searcher-repeats-points", sdk.KindSearcher, value(repeating)},
		searcherThat("searcher-ends-too-early", searcher{after: func(s *searcher, _ []sdk.Request,
			answer sdk.Suggestions) sdk.Suggestions {
			if size, ok := s.problem.Space.Size(100); ok && s.asked > uint64(size)/2 {
				return sdk.Suggestions{Status: sdk.Exhausted}
			}
			return answer
		}}),
		searcherThat("searcher-goes-on-after-its-end",
			searcher{after: func(s *searcher, requests []sdk.Request, answer sdk.Suggestions) sdk.Suggestions {
				if answer.Status == sdk.Exhausted && s.asked > 0 && s.sum == 1 {
					p := s.problem.Space.Complete(s.problem.Space.Draw(space.NewRand(1)))
					return sdk.Suggestions{Points: slices.Repeat([]space.Point{p}, len(requests))}
				}
				if answer.Status == sdk.Exhausted {
					s.sum = 1
				}
				return answer
			}}),
		searcherThat("searcher-leaves-points-out",
			searcher{after: func(_ *searcher, requests []sdk.Request, answer sdk.Suggestions) sdk.Suggestions {
				if len(requests) > 6 && len(answer.Points) > 6 {
					answer.Points = answer.Points[:6]
				}
				return answer
			}}),
		searcherThat("searcher-waits-for-ever", searcher{
			see: func(s *searcher, events []sdk.Event) error {
				for _, e := range events {
					switch e.Kind {
					case sdk.TrialAdded:
						s.open++
					case sdk.TrialCompleted: // but not when it fails or is removed
						s.open--
					}
				}
				return nil
			},
			after: func(s *searcher, _ []sdk.Request, answer sdk.Suggestions) sdk.Suggestions {
				if s.open > 5 {
					return sdk.Suggestions{Status: sdk.Wait}
				}
				return answer
			},
		}),
	}
}

// seeing calls f for each event.
func seeing(f func(s *searcher, e *sdk.Event) error) searcher {
	return searcher{see: func(s *searcher, events []sdk.Event) error {
		for i := range events {
			if err := f(s, &events[i]); err != nil {
				return err
			}
		}
		return nil
	}}
}

func searchersOfEvents() []Plugin {
	return []Plugin{
		searcherThat("searcher-panics-on-strangers", seeing(func(s *searcher, e *sdk.Event) error {
			if e.Kind == sdk.TrialAdded {
				s.known[e.Trial] = true
			} else if !s.known[e.Trial] {
				panic("trial " + strconv.Itoa(int(e.Trial)) + " was never added")
			}
			return nil
		})),
		searcherThat("searcher-refuses-new-kinds-of-events", seeing(func(_ *searcher, e *sdk.Event) error {
			if e.Kind > sdk.SearchEnded {
				return errors.New("an event of an unknown kind")
			}
			return nil
		})),
		searcherThat("searcher-chokes-on-infinite-losses", seeing(func(_ *searcher, e *sdk.Event) error {
			if len(e.Losses) > 0 && math.IsInf(e.Losses[0], 1) {
				return errors.New("cannot convert float infinity to integer")
			}
			return nil
		})),
		searcherThat("searcher-wants-numbers-without-gaps", seeing(func(s *searcher, e *sdk.Event) error {
			if s.sum++; float64(e.Number) != s.sum {
				return errors.New("an event is missing")
			}
			return nil
		})),
		searcherThat("searcher-chokes-on-many-trials", seeing(func(s *searcher, e *sdk.Event) error {
			if e.Kind == sdk.TrialAdded {
				s.open++
			}
			if s.open > 900 {
				return errors.New("out of memory")
			}
			return nil
		})),
		searcherThat("searcher-chokes-on-metrics", seeing(func(_ *searcher, e *sdk.Event) error {
			if len(e.Metrics) > 100 {
				panic("index out of range")
			}
			return nil
		})),
	}
}

func searchersOfWords() []Plugin {
	plain := func(name string, change func(*sdk.SearcherPlugin)) Plugin {
		p := reference.Searcher
		change(&p)
		return Plugin{name, sdk.KindSearcher, value(p)}
	}
	return []Plugin{
		plain("searcher-without-a-summary", func(p *sdk.SearcherPlugin) { p.Summary = "" }),
		plain("searcher-with-a-loud-name", func(p *sdk.SearcherPlugin) { p.Name = "My Searcher" }),
		plain("searcher-with-an-open-schema", func(p *sdk.SearcherPlugin) {
			p.Options = []byte(`{"type": "object", "properties": {"repeats": {"type": "boolean", "default": false, ` +
				`"description": "."}}}`)
		}),
		plain("searcher-with-a-wrong-default", func(p *sdk.SearcherPlugin) {
			p.Options = []byte(`{"type": "object", "additionalProperties": false, "properties": {"repeats": {"type": ` +
				`"boolean", "default": "no", "description": "."}}}`)
		}),
		plain("searcher-takes-any-options", func(p *sdk.SearcherPlugin) {
			p.Open = func(problem sdk.Problem, _ []byte) (sdk.Searcher, sdk.Traits, error) {
				return reference.Searcher.Open(problem, nil)
			}
		}),
		plain("searcher-of-one-objective", func(p *sdk.SearcherPlugin) {
			p.Open = func(problem sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
				if len(problem.Objectives) > 1 {
					panic("not implemented")
				}
				return reference.Searcher.Open(problem, options)
			}
		}),
	}
}
