package auto

import (
	"context"
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/answer"
	"github.com/tunehost/tunehost/plugins/searchers/internal/outcomes"
	"github.com/tunehost/tunehost/plugins/searchers/random"
)

const (
	// maxAsked is how often a searcher is asked for another point, if its point was already
	// suggested, before points are drawn at random.
	maxAsked = 8
)

// Plugin is the searcher to be served.
var Plugin = sdk.SearcherPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindSearcher,
		Name:    "auto",
		Version: "1.9.0",
		Summary: "Chooses one of the other searchers by the space, the objectives and the number of ended trials: " +
			"start with this one.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Repeats bool
	Cost    *float64
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{answer.Cost(&o.Cost), answer.Repeats(&o.Repeats)}
})

// A searcher delegates to others. All searchers that the plan still needs receive all events, so
// none needs the history when its turn comes.
type searcher struct {
	space      *space.Space
	objectives int
	seen       *space.Seen
	trials     *outcomes.Trials
	plan       []phase
	members    map[string]sdk.Searcher
	// progress decides which phase it is.
	progress *progress
	// branches are nil if there are none, or if several objectives do not say which is best.
	branches *branches
	// say tells the user which searchers are used.
	say func(string)
}

func open(problem sdk.Problem, text []byte) (sdk.Searcher, sdk.Traits, error) {
	o, err := declared.Read(text)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	if !searches(problem.Space) {
		return random.Plugin.Open(problem, o.member("random"))
	}
	s, err := newSearcher(problem, o, report)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return s, sdk.Traits{}, nil
}

// ofGP returns the options of gp; null is its own default.
func (o options) ofGP() []byte {
	cost := "null"
	if o.Cost != nil {
		cost = fmt.Sprint(*o.Cost)
	}
	return fmt.Appendf(nil, `{"repeats": %t, "cost": %s}`, o.Repeats, cost)
}

// member returns the options of a member.
func (o options) member(name string) []byte {
	if name == "gp" {
		return o.ofGP()
	}
	return fmt.Appendf(nil, `{"repeats": %t}`, o.Repeats)
}

func newSearcher(problem sdk.Problem, o options, say func(string)) (*searcher, error) {
	seen, err := answer.Seen(problem.Space, o.Repeats)
	if err != nil {
		return nil, err
	}
	f := look(problem)
	s := &searcher{space: problem.Space, objectives: f.objectives, seen: seen,
		trials: outcomes.New(problem), plan: choose(f), members: map[string]sdk.Searcher{},
		progress: newProgress(len(problem.Space.Params)), say: say}
	if err := s.engage(problem, o); err != nil {
		return nil, err
	}
	if f.objectives == 1 && needs(s.plan, "gp") {
		s.branches = newBranches(problem.Space)
	}
	text := fmt.Sprintf("auto: %v: %s", f, describe(s.plan))
	if s.branches != nil {
		text += fmt.Sprintf("; while %d trials in a row are not better, two turns in four are tpe's for branches "+
			"with few trials", patience)
	}
	say(text)
	return s, nil
}

// engage opens the searchers of the plan.
func (s *searcher) engage(problem sdk.Problem, o options) error {
	for _, p := range s.plan {
		for _, name := range p.turns {
			if s.members[name] != nil {
				continue
			}
			m, _, err := searchers[name].Open(problem, o.member(name))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			s.members[name] = m
		}
	}
	return nil
}

// Observe passes on the events, counts ended trials, and enters the next phase.
func (s *searcher) Observe(ctx context.Context, events []sdk.Event) error {
	before := &s.plan[0]
	for i := range events {
		if events[i].Kind == sdk.TrialAdded {
			s.seen.Add(events[i].Point)
		}
		outcome, err := s.trials.Observe(&events[i])
		if err != nil {
			return err
		}
		if outcome != nil && s.branches != nil {
			s.branches.add(outcome)
		}
		s.progress.observe(&events[i])
		s.advance()
	}
	for name, m := range s.members {
		if err := m.Observe(ctx, events); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if &s.plan[0] != before {
		s.pass()
	}
	return nil
}

// advance drops phases that are over, event by event, so that batches have no influence.
func (s *searcher) advance() {
	if len(s.plan) == 1 {
		return
	}
	ended, stopping := s.progress.ended()
	if stopping && needs(s.plan, "tpe") {
		s.plan, s.branches = []phase{{ended, s.whileStopping()}}, nil
	}
	for len(s.plan) > 1 && ended >= s.plan[1].from {
		s.plan = s.plan[1:]
	}
}

// whileStopping returns the turns while trials are stopped early.
func (s *searcher) whileStopping() []string {
	if s.objectives == 1 && needs(s.plan, "gp") {
		return []string{"gp", "gp", "tpe"}
	}
	return []string{"tpe"}
}

// pass drops searchers that no later phase needs.
func (s *searcher) pass() {
	ended, stopping := s.progress.ended()
	why := fmt.Sprintf("%d trials have ended", ended)
	if stopping {
		why = "trials are stopped early"
	}
	s.say(fmt.Sprintf("auto: %s: %s", why, describe(s.plan)))
	for name := range s.members {
		if !needs(s.plan, name) {
			delete(s.members, name)
		}
	}
}

// Suggest answers each request separately.
func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	var answer sdk.Suggestions
	for _, request := range requests {
		p, err := s.suggest(ctx, request)
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

// suggest returns nil if there is no point left. A searcher does not know suggestions of others
// that are not trials yet, so it may be asked again.
func (s *searcher) suggest(ctx context.Context, request sdk.Request) (space.Point, error) {
	rng := space.NewRand(request.Seed)
	var failed error
	p, err := s.seen.Pick(request.Given, rng, func(try int) space.Point {
		if failed == nil && try < maxAsked {
			again := request
			again.Seed += uint64(try)
			var p space.Point
			if p, failed = s.ask(ctx, again, try); p != nil {
				return p
			}
		}
		return s.space.Draw(rng)
	})
	switch {
	case failed != nil:
		return nil, failed // the error names the trial
	case err != nil:
		return nil, fmt.Errorf("trial %d: %w", request.Trial, err)
	}
	return p, nil
}

// ask returns a point of the member whose turn it is, or nil if it has none. If it is the turn of a
// branch in which there seems to be nothing new, the trial is like others.
func (s *searcher) ask(ctx context.Context, request sdk.Request, try int) (space.Point, error) {
	turns := s.plan[0].turns
	if try < maxAsked/2 && slices.Contains(turns, "gp") && s.branches.turn(request.Trial) {
		branch := request
		branch.Given = s.branches.given(request.Trial, request.Given)
		if p, err := one(ctx, s.members["tpe"], branch); p != nil && err == nil {
			return p, nil
		}
	}
	return one(ctx, s.members[turns[int(request.Trial)%len(turns)]], request)
}

// one returns a point of a searcher, or nil if it has none.
func one(ctx context.Context, m sdk.Searcher, request sdk.Request) (space.Point, error) {
	answer, err := m.Suggest(ctx, []sdk.Request{request})
	if err != nil || len(answer.Points) == 0 {
		return nil, err
	}
	return answer.Points[0], nil
}
