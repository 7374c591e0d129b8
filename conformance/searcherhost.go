package conformance

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A searcherHost simulates the host for a searcher: it requests suggestions, creates trials from them, and
// sends events.
type searcherHost struct {
	*subject
	searcherPlan
	problem  sdk.Problem
	searcher plugin.Searcher

	calls   []call
	history []sdk.Event
	untold  []sdk.Event
	trials  []*suggested
	running []uint32
	over    bool  // it returned EXHAUSTED
	strayed error // the first error of a suggestion
}

// searcherPlan is the data of a check with a searcherHost.
type searcherPlan struct {
	Space string `json:"space"`
	// Trials are requested in total, Workers at a time.
	Trials  int `json:"trials"`
	Workers int `json:"workers"`
	// Fates are those of the trials, in turn.
	Fates []string `json:"fates"`
	// Salt changes losses, and nothing else.
	Salt uint64 `json:"salt"`
	// Planned: the searcher knows the number of trials.
	Planned bool `json:"planned"`
	// Given: requests fix some coordinates.
	Given bool `json:"given"`
	// Objectives is the number of objectives; 0: one.
	Objectives int `json:"objectives"`
	// Gaps: the numbers of events have gaps.
	Gaps bool `json:"gaps"`
}

// A call is one exchange: events, then requests and their answer.
type call struct {
	events   []sdk.Event
	requests []sdk.Request
	answer   sdk.Suggestions
}

type suggested struct {
	point   space.Point
	script  []outcome
	results uint64
	attempt uint32
	losses  []float64
}

var independence = need[promises]{func(p promises) bool { return p.Independent }, "its suggestions depend on results"}

var gridding = need[promises]{func(p promises) bool { return p.CombinesGrid }, "hosts combine the grid axes for it"}

// openSearcher opens the searcher for a hunt, if it promises what is needed as far as that is known. A searcher that
// refuses the check's space is tried with a simple one, unless the check is about the space.
func (s *subject) openSearcher(w searcherPlan, needs ...need[promises]) (*searcherHost, error) {
	h, err := s.openFor(w, needs)
	var not inapplicable
	refuses := errors.As(err, &not) && strings.HasPrefix(string(not), refusesProblem)
	if !refuses || s.check.Verb == "hunt" || !slices.Contains(conditional, w.Space) {
		return h, err
	}
	w.Space = simpleSpace
	if simple, err := s.openFor(w, needs); err == nil {
		return simple, nil
	}
	return nil, err
}

// conditional are the infinite spaces with conditions. In their place the simple one has neither conditions nor
// constraints, steps nor choices.
var conditional = []string{"plain", "conditions", "constraints"}

const simpleSpace = "uniform"

func (s *subject) openFor(w searcherPlan, needs []need[promises]) (*searcherHost, error) {
	h, err := s.prepare(w)
	if err != nil {
		return nil, err
	}
	opening := s.opening(about(h.Space, h.problem))
	if err := needed(s, opening, needs); err != nil {
		return nil, err
	}
	if h.searcher, err = s.searcher(h.problem, nil); err != nil {
		return nil, err
	}
	return h, declares(s, opening, promises{h.searcher.Traits(), h.searcher.Snapshots()}, needs)
}

func (s *subject) prepare(w searcherPlan) (*searcherHost, error) {
	p, err := problem(w.Space)
	if err != nil {
		return nil, err
	}
	for i := 1; i < w.Objectives; i++ {
		p.Objectives = append(p.Objectives, sdk.Objective{Metric: fmt.Sprintf("loss%d", i), Mode: sdk.Min})
	}
	if w.Planned {
		p.Trials = w.Trials
	}
	w.Workers = max(1, w.Workers)
	p.Concurrency = w.Workers
	if len(w.Fates) == 0 {
		w.Fates = []string{"completes"}
	}
	return &searcherHost{subject: s, searcherPlan: w, problem: p}, nil
}

// run runs until all trials have ended or the searcher is exhausted.
func (h *searcherHost) run() error {
	for waits := 0; !h.over && len(h.trials) < h.Trials; {
		before := len(h.trials)
		if err := h.ask(min(h.Workers-len(h.running), h.Trials-before)); err != nil {
			return err
		}
		if len(h.trials) > before {
			waits = 0
		} else if waits++; len(h.running) == 0 && waits > maxWaits && !h.over {
			return wanted("a suggestion, for nothing runs that could be waited for", "WAIT, %d times", waits)
		}
		if err := h.advance(); err != nil {
			return err
		}
	}
	return h.drain()
}

// maxWaits is how often a searcher may return WAIT while nothing runs.
const maxWaits = 3

// drain lets all running trials end, silent ones last.
func (h *searcherHost) drain() error {
	for len(h.running) > 0 {
		if err := h.advance(); err != nil {
			return err
		}
	}
	return h.sendEvents()
}

// ask sends the events and requests n suggestions.
func (h *searcherHost) ask(n int) error {
	if n <= 0 {
		return nil
	}
	requests := h.requests(n)
	events := h.untold
	if err := h.sendEvents(); err != nil {
		return err
	}
	answer, err := h.searcher.Suggest(h.ctx, requests)
	if err != nil {
		return err
	}
	answer.Points = points(answer.Points)
	h.calls = append(h.calls, call{events, requests, answer})
	return h.take(requests, answer)
}

// points copies points, whose memory may belong to the plugin.
func points(list []space.Point) []space.Point {
	out := make([]space.Point, len(list))
	for i := range list {
		out[i] = slices.Clone(list[i])
	}
	return out
}

func (h *searcherHost) sendEvents() error {
	events := h.untold
	h.untold = nil
	if len(events) == 0 {
		return nil
	}
	return h.searcher.Observe(h.ctx, events)
}

// requests returns the next n requests.
func (h *searcherHost) requests(n int) []sdk.Request {
	list := make([]sdk.Request, n)
	for i := range list {
		trial := uint64(len(h.trials) + i)
		list[i] = sdk.Request{Trial: uint32(trial), Seed: hash(7, trial), Given: h.given(trial)}
	}
	return list
}

// given fixes some coordinates of a point of the space: those of grids, as hosts do unless the searcher combines them
// itself, and others if the check requires it.
func (h *searcherHost) given(trial uint64) space.Point {
	p, err := h.problem.Space.Sample(space.NewRand(hash(11, trial)))
	if err != nil {
		return nil
	}
	some := false
	for i := range p {
		fixed := h.problem.Space.Params[i].Grid && !h.searcher.Traits().CombinesGrid
		keep := fixed || h.Given && hash(13, trial, uint64(i))%2 == 0
		if !keep {
			p[i] = math.NaN()
		}
		some = some || keep
	}
	if !some {
		return nil
	}
	return p
}

// take creates trials from an answer.
func (h *searcherHost) take(requests []sdk.Request, answer sdk.Suggestions) error {
	if err := counted(len(requests), answer); err != nil {
		return err
	}
	h.over = answer.Status == sdk.Exhausted
	for i, p := range answer.Points {
		p = slices.Clone(p)
		h.prune(p, requests[i].Given)
		if err := h.checkPoint(requests[i], p); err != nil && h.strayed == nil {
			h.strayed = err
		}
		if len(p) != len(h.problem.Space.Params) {
			return h.strayed
		}
		if err := h.add(p); err != nil {
			return err
		}
	}
	return nil
}

// prune drops given coordinates that do not exist in the chosen point, as hosts do.
func (h *searcherHost) prune(p, given space.Point) {
	for i := range given {
		if i < len(p) && !math.IsNaN(given[i]) && !h.problem.Space.Active(p, i) {
			p[i] = math.NaN()
		}
	}
}

// counted checks that a status explains missing points.
func counted(asked int, answer sdk.Suggestions) error {
	points := len(answer.Points)
	if points > asked || points < asked && answer.Status == sdk.Ready {
		return wanted(fmt.Sprintf("%d points, or fewer and WAIT or EXHAUSTED", asked), "%d points and the status %d",
			points, answer.Status)
	}
	return nil
}

// checkPoint checks that the point lies in the space, and has the given coordinates.
func (h *searcherHost) checkPoint(r sdk.Request, p space.Point) error {
	if err := h.problem.Space.Check(p); err != nil {
		return wanted("a point of the space", "trial %d at %v: %v", r.Trial, p, err)
	}
	if !h.problem.Space.Holds(p) {
		return wanted("a point that satisfies the constraints", "trial %d at %v", r.Trial, p)
	}
	for i, x := range r.Given {
		if !math.IsNaN(x) && !math.IsNaN(p[i]) && p[i] != x {
			return wanted(fmt.Sprintf("%v for %q, as given", x, h.problem.Space.Params[i].Name), "%v for trial %d",
				p[i], r.Trial)
		}
	}
	return nil
}

func (h *searcherHost) add(p space.Point) error {
	no := uint32(len(h.trials))
	words, err := script(h.Fates[int(no)%len(h.Fates)])
	if err != nil {
		return err
	}
	h.trials = append(h.trials, &suggested{point: p, script: words})
	h.running = append(h.running, no)
	h.event(sdk.Event{Kind: sdk.TrialAdded, Trial: no, Point: slices.Clone(p)})
	return nil
}

// event records an event to be sent.
func (h *searcherHost) event(e sdk.Event) {
	e.Number = numbered(h.history, h.Gaps)
	h.history = append(h.history, e)
	h.untold = append(h.untold, e)
}

// numbered returns the number of the next event. Gaps stand for events of others.
func numbered(history []sdk.Event, gaps bool) uint64 {
	number := uint64(0)
	if n := len(history); n > 0 {
		number = history[n-1].Number
	}
	if gaps {
		number += hash(17, uint64(len(history))) % 3
	}
	return number + 1
}

// advance lets one trial take a step. Silent trials fail when nothing else is left.
func (h *searcherHost) advance() error {
	var awake []uint32
	for _, no := range h.running {
		if len(h.trials[no].script) > 0 {
			awake = append(awake, no)
		}
	}
	if len(awake) == 0 {
		for _, no := range h.running {
			h.trials[no].script = []outcome{"fail"}
		}
		return nil
	}
	no := awake[int(hash(19, uint64(len(h.history)))%uint64(len(awake)))]
	h.step(no)
	return h.ctx.Err()
}

// step executes the next word of a trial's script.
func (h *searcherHost) step(no uint32) {
	t := h.trials[no]
	w := t.script[0]
	t.script = t.script[1:]
	e := sdk.Event{Kind: kinds[w], Trial: no, Iteration: t.results}
	switch w {
	case "start":
		t.attempt++
	case "result", "nan":
		t.results++
		e.Iteration, e.Seconds = t.results, float64(t.results)/4
		t.losses = h.losses(no, t, w == "nan")
		e.Losses = t.losses
	case "complete", "remove":
		e.Losses, e.Reason = t.losses, "its time had come"
	case "fail":
		e.Reason = "exit status 3"
	}
	e.Attempt = t.attempt
	h.event(e)
	if w == "complete" || w == "remove" || w == "fail" {
		i := slices.Index(h.running, no)
		h.running = slices.Delete(h.running, i, i+1)
	}
}

func (h *searcherHost) losses(no uint32, t *suggested, nan bool) []float64 {
	out := make([]float64, len(h.problem.Objectives))
	for i := range out {
		out[i] = math.Inf(1)
		if !nan {
			out[i] = loss(h.problem.Space, t.point, h.Salt+uint64(i), no, t.results)
		}
	}
	return out
}
