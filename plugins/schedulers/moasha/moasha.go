package moasha

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/each"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
)

type scheduler struct {
	options    options
	objectives []objective.Objective
	at         []uint64 // the rungs' iterations, increasing
	rungs      []rung
	trials     table.Table[trial]
}

type rung struct {
	layers layers
	len    int
}

type trial struct {
	ended bool
	told  bool  // the host knows the next iteration that needs a decision
	next  uint8 // the next rung at which it is recorded
}

// Decide processes the events one by one; see the rules of the package.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	return each.Stopper[trial]{Trials: &s.trials, Result: s.result, Completed: s.completed,
		Ended: (*trial).end}.Decide(events)
}

func (t *trial) end() { t.ended = true }

// result decides a due result; other results continue without an answer.
func (s *scheduler) result(e *sdk.Event, t *trial) (d sdk.Decision, due bool) {
	if t.ended {
		return sdk.Decision{}, false
	}
	d = sdk.Decision{Event: e.Number}
	switch k := s.reached(e, t); {
	case e.Iteration >= s.options.Max:
		s.record(e, t, k)
		d.Reason = fmt.Sprintf("finished: max is %d iterations", s.options.Max)
	case k >= 0:
		d.Reason = s.record(e, t, k)
	case t.told:
		return sdk.Decision{}, false
	}
	if d.Reason != "" {
		d.Verdict, t.ended = sdk.Stop, true
	} else {
		d.Until, t.told = s.until(t), true
	}
	return d, true
}

func (s *scheduler) until(t *trial) uint64 {
	if int(t.next) < len(s.at) {
		return s.at[t.next]
	}
	return s.options.Max
}

// reached returns the highest rung up to the iteration, above all rungs at which the trial was
// recorded, or -1.
func (s *scheduler) reached(e *sdk.Event, t *trial) int {
	k := -1
	for i := int(t.next); i < len(s.at) && s.at[i] <= e.Iteration; i++ {
		k = i
	}
	return k
}

// completed records the last result of a trial that a stop rule ended at a rung.
func (s *scheduler) completed(e *sdk.Event, t *trial) {
	if !t.ended && len(e.Losses) > 0 {
		s.record(e, t, s.reached(e, t))
	}
	t.ended = true
}

// record records the event's losses at rung k, if there is one, and returns the reason to stop the
// trial there, or nothing.
func (s *scheduler) record(e *sdk.Event, t *trial, k int) string {
	if k < 0 {
		return ""
	}
	t.next = uint8(k + 1)
	r, v := &s.rungs[k], s.vector(e)
	layer := r.layers.add(v)
	r.len++
	keep := max(1, r.len/s.options.factor())
	before := r.layers.before(layer)
	switch group := r.layers[layer]; {
	case math.IsInf(v[0], 1):
		return fmt.Sprintf("at iteration %d not all of %s are finite numbers", e.Iteration, s.names())
	case before >= keep:
		return fmt.Sprintf("%s at iteration %d is in layer %d: better layers hold %d, and rung %d keeps the best "+
			"%d of %d", s.text(v), e.Iteration, layer+1, before, s.at[k], keep, r.len)
	case before+len(group) > keep && !group.among(v, keep-before):
		return fmt.Sprintf("%s at iteration %d is close to others: rung %d keeps the best %d of %d, so %d of the %d "+
			"in its layer, which lie apart", s.text(v), e.Iteration, s.at[k], keep, r.len, keep-before, len(group))
	}
	return ""
}

// vector returns the compared losses; all are the worst if one is not finite.
func (s *scheduler) vector(e *sdk.Event) vector {
	v := make(vector, len(s.objectives))
	for i, o := range s.objectives {
		v[i] = max(o.Loss(e), -math.MaxFloat64)
	}
	if slices.Contains(v, math.Inf(1)) {
		for i := range v {
			v[i] = math.Inf(1)
		}
	}
	return v
}

// text returns "error 0.2, latency 31".
func (s *scheduler) text(v vector) string {
	var all []string
	for i, o := range s.objectives {
		all = append(all, o.Text(v[i]))
	}
	return strings.Join(all, ", ")
}

func (s *scheduler) names() string {
	var all []string
	for _, o := range s.objectives {
		all = append(all, o.Name())
	}
	return strings.Join(all, ", ")
}
