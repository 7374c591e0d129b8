package conformance

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

var searcherVerbs = map[string]verb{
	"hunt": take(hunts), "repeat-hunt": take(repeatsHunt), "rebatch-events": take(rebatchesEvents),
	"rebatch-requests": take(rebatchesRequests), "restore-searcher": take(restoresSearcher),
	"snapshot-searcher": take(snapshotsSearcher), "restart-searcher": take(restartsSearcher),
	"exhaust": take(exhausts), "exhausted-stays": take(exhaustedStays), "repeats-option": take(repeatsOption),
	"count-suggestions": take(countsSuggestions), "independent": take(independent), "grids": take(grids),
	"searcher-strangers": take(searcherStrangers), "searcher-flood": take(searcherFlood),
	"searcher-crowd": take(searcherCrowd), "searcher-objectives": take(searcherObjectives),
	"searcher-future": take(searcherFuture),
}

// runSearch runs the searcher until it has no more suggestions.
func (s *subject) runSearch(w searcherPlan, needs ...need[promises]) (*searcherHost, error) {
	h, err := s.openSearcher(w, needs...)
	if err != nil {
		return nil, err
	}
	return h, h.run()
}

// hunts checks that every suggestion lies in the space, and that the search ends.
func hunts(s *subject, w searcherPlan) error {
	h, err := s.runSearch(w)
	switch {
	case err != nil:
		return err
	case len(h.trials) == 0:
		return wanted("a suggestion", "EXHAUSTED at once")
	}
	return h.strayed
}

// repeatsHunt checks that another instance gives the same answers.
func repeatsHunt(s *subject, w searcherPlan) error {
	first, err := s.runSearch(w)
	if err != nil {
		return err
	}
	return s.replay(first, 0, nil, whole, all)
}

// cut cuts a call's events or requests into pieces.
type cut[T any] func([]T) [][]T

func whole(events []sdk.Event) [][]sdk.Event     { return [][]sdk.Event{events} }
func singly(events []sdk.Event) [][]sdk.Event    { return slices.Collect(slices.Chunk(events, 1)) }
func all(requests []sdk.Request) [][]sdk.Request { return [][]sdk.Request{requests} }
func oneByOne(requests []sdk.Request) [][]sdk.Request {
	return slices.Collect(slices.Chunk(requests, 1))
}

// replay repeats the calls of a search from number from on with a new instance, which starts with the
// snapshot, and compares the answers.
func (s *subject) replay(h *searcherHost, from int, snapshot []byte, events cut[sdk.Event],
	requests cut[sdk.Request]) error {
	searcher, err := s.searcher(h.problem, snapshot)
	if err != nil {
		return err
	}
	if snapshot == nil && from > 0 {
		if err := searcher.Observe(s.ctx, h.before(from)); err != nil {
			return err
		}
	}
	return s.again(searcher, h.calls[from:], events, requests)
}

// before returns the events that were sent before a call.
func (h *searcherHost) before(n int) (events []sdk.Event) {
	for _, c := range h.calls[:n] {
		events = append(events, c.events...)
	}
	return events
}

func (s *subject) again(searcher plugin.Searcher, calls []call, events cut[sdk.Event],
	requests cut[sdk.Request]) error {
	for _, c := range calls {
		for _, part := range events(c.events) {
			if err := searcher.Observe(s.ctx, part); err != nil {
				return err
			}
		}
		got, err := s.answers(searcher, requests(c.requests))
		if err != nil {
			return err
		}
		if err := sameSuggestions(c, got); err != nil {
			return err
		}
	}
	return nil
}

// answers combines the answers to parts of one call.
func (s *subject) answers(searcher plugin.Searcher, parts [][]sdk.Request) (sum sdk.Suggestions, err error) {
	for _, part := range parts {
		got, err := searcher.Suggest(s.ctx, part)
		if err != nil {
			return sum, err
		}
		if err := counted(len(part), got); err != nil {
			return sum, err
		}
		sum.Points = append(sum.Points, got.Points...)
		sum.Status = got.Status
		if got.Status != sdk.Ready {
			break
		}
	}
	return sum, nil
}

func sameSuggestions(c call, got sdk.Suggestions) error {
	first := c.requests[0].Trial
	if len(got.Points) != len(c.answer.Points) || got.Status != c.answer.Status {
		return wanted(fmt.Sprintf("for trial %d on, as before, %d points and the status %d", first,
			len(c.answer.Points), c.answer.Status),
			"%d points and the status %d", len(got.Points), got.Status)
	}
	for i, p := range got.Points {
		if !samePoint(p, c.answer.Points[i]) {
			return wanted(fmt.Sprintf("for trial %d, as before, %v", first+uint32(i), c.answer.Points[i]), "%v", p)
		}
	}
	return nil
}

// samePoint compares bits, but treats all NaNs as equal.
func samePoint(a, b space.Point) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

func rebatchesEvents(s *subject, w searcherPlan) error {
	h, err := s.runSearch(w)
	if err != nil {
		return err
	}
	return s.replay(h, 0, nil, singly, all)
}

func rebatchesRequests(s *subject, w searcherPlan) error {
	h, err := s.runSearch(w)
	if err != nil {
		return err
	}
	return s.replay(h, 0, nil, whole, oneByOne)
}

// restoresSearcher checks that an instance that receives the history answers like the original one.
func restoresSearcher(s *subject, w searcherPlan) error {
	h, err := s.runSearch(w)
	if err != nil {
		return err
	}
	for _, at := range cuts(len(h.calls)) {
		if err := s.replay(h, at, nil, whole, all); err != nil {
			return err
		}
	}
	return nil
}

// cuts returns some positions in n calls.
func cuts(n int) []int {
	return slices.Compact([]int{min(1, n), n / 2, max(n-1, 0)})
}

// restartsSearcher makes each call to an instance that receives the history.
func restartsSearcher(s *subject, w searcherPlan) error {
	h, err := s.runSearch(w)
	if err != nil {
		return err
	}
	for i := range h.calls {
		searcher, err := s.searcher(h.problem, nil)
		if err != nil {
			return err
		}
		if err := searcher.Observe(s.ctx, h.before(i)); err != nil {
			return err
		}
		if err := s.again(searcher, h.calls[i:i+1], whole, all); err != nil {
			return err
		}
	}
	return nil
}

// snapshotsSearcher checks that an instance that starts with a snapshot answers like the one that
// made it.
func snapshotsSearcher(s *subject, w searcherPlan) error {
	h, err := s.runSearch(w, snapshots)
	if err != nil {
		return err
	}
	for _, at := range cuts(len(h.calls)) {
		snapshot, err := s.snapshotAt(h, at)
		if err != nil {
			return err
		}
		if err := s.replay(h, at, snapshot, whole, all); err != nil {
			return err
		}
	}
	return nil
}

// snapshotAt runs a search up to a call.
func (s *subject) snapshotAt(h *searcherHost, at int) ([]byte, error) {
	searcher, err := s.searcher(h.problem, nil)
	if err != nil {
		return nil, err
	}
	if err := s.again(searcher, h.calls[:at], whole, all); err != nil {
		return nil, err
	}
	return usable(searcher.Snapshot(s.ctx))
}

const maxSnapshot = 16 << 20 // bytes

func usable(snapshot []byte, err error) ([]byte, error) {
	switch {
	case err != nil:
		return nil, err
	case len(snapshot) == 0:
		return nil, wanted("a snapshot", "an empty one, which cannot be told from none")
	case len(snapshot) > maxSnapshot:
		return nil, wanted("a snapshot of at most 16 MiB", "one of %d bytes", len(snapshot))
	}
	return snapshot, nil
}

// repeats reports whether the options allow the searcher to repeat points.
func (s *subject) repeats() bool {
	return strings.Contains(strings.ReplaceAll(string(s.options()), " ", ""), `"repeats":true`)
}

// exhausts checks that each point of a finite space is suggested once, and then none.
func exhausts(s *subject, w searcherPlan) error {
	if s.repeats() {
		return inapplicable("its options let it repeat points")
	}
	h, err := s.runSearch(w)
	if err != nil {
		return err
	}
	size, _ := h.problem.Space.Size(w.Trials)
	seen := map[string]uint32{}
	for no, t := range h.trials {
		key := h.problem.Space.Key(t.point)
		if first, again := seen[key]; again {
			return wanted("no point twice in a finite space", "%v for trials %d and %d", t.point, first, no)
		}
		seen[key] = uint32(no)
	}
	if len(h.trials) != size || !h.over {
		return wanted(fmt.Sprintf("all %d points, then EXHAUSTED", size), "%d points; exhausted: %v", len(h.trials),
			h.over)
	}
	return nil
}

// exhaustedStays checks that nothing comes after EXHAUSTED, whatever happens.
func exhaustedStays(s *subject, w searcherPlan) error {
	h, err := s.runSearch(w)
	if err != nil {
		return err
	}
	if !h.over {
		return inapplicable("it was not exhausted by a finite space")
	}
	requests := h.requests(2)
	for range 3 {
		got, err := h.searcher.Suggest(s.ctx, requests)
		if err != nil {
			return err
		}
		if got.Status != sdk.Exhausted || len(got.Points) > 0 {
			return wanted("EXHAUSTED and no point", "the status %d and %d points", got.Status, len(got.Points))
		}
		h.event(sdk.Event{Kind: sdk.TrialFailed, Trial: 0, Reason: "again"})
		if err := h.sendEvents(); err != nil {
			return err
		}
	}
	return nil
}

// repeatsOption checks that a searcher with the option repeats continues when it is on.
func repeatsOption(s *subject, w searcherPlan) error {
	x, err := s.schema()
	if err != nil {
		return err
	}
	if _, ok := x.Properties["repeats"]; !ok {
		return inapplicable("it has no option repeats")
	}
	if s.Options.Options, err = s.with(map[string]json.RawMessage{"repeats": json.RawMessage("true")}); err != nil {
		return err
	}
	h, err := s.runSearch(w)
	if err != nil {
		return err
	}
	if len(h.trials) < w.Trials {
		return wanted(fmt.Sprintf("%d points with repeats on", w.Trials), "%d points", len(h.trials))
	}
	return nil
}

// countsSuggestions checks that a status says why there are fewer points than requests.
func countsSuggestions(s *subject, w struct {
	searcherPlan
	Counts []int `json:"counts"`
}) error {
	h, err := s.openSearcher(w.searcherPlan)
	if err != nil {
		return err
	}
	for _, n := range w.Counts {
		requests := h.requests(n)
		if n == 0 {
			requests = nil
		}
		got, err := h.searcher.Suggest(s.ctx, requests)
		if err != nil {
			return err
		}
		if err := counted(n, got); err != nil {
			return err
		}
		if err := h.take(requests, sdk.Suggestions{Points: points(got.Points), Status: got.Status}); err != nil {
			return err
		}
		if err := h.drain(); err != nil {
			return err
		}
	}
	return nil
}

// independent checks that suggestions do not depend on results if the traits say so.
func independent(s *subject, w searcherPlan) error {
	h, err := s.runSearch(w, independence)
	if err != nil {
		return err
	}
	w.Salt++
	other, err := s.runSearch(w)
	if err != nil {
		return err
	}
	for i, t := range h.trials {
		if i >= len(other.trials) || !samePoint(t.point, other.trials[i].point) {
			return wanted("the same suggestions whatever the results", "others from trial %d on", i)
		}
	}
	return nil
}

// grids checks that each combination of the grid axes is suggested once before one is repeated, if the traits say that
// the searcher combines them.
func grids(s *subject, w searcherPlan) error {
	h, err := s.runSearch(w, gridding)
	if err != nil {
		return err
	}
	if h.strayed != nil {
		return h.strayed
	}
	combinations, seen := 1, map[string]int{}
	for _, p := range h.problem.Space.Params {
		if p.Grid {
			combinations *= max(len(p.Choices), int(p.High-p.Low)+1)
		}
	}
	for i, t := range h.trials {
		cell := ""
		for k, p := range h.problem.Space.Params {
			if p.Grid {
				cell += fmt.Sprint(t.point[k], " ")
			}
		}
		if round := i / combinations; seen[cell] != round {
			return wanted(fmt.Sprintf("each of the %d combinations of the grid axes once before one is repeated",
				combinations), "%d suggestions of one before trial %d", seen[cell], i)
		}
		seen[cell]++
	}
	return nil
}
