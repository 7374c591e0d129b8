package resources

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// B-010, B-037
func TestStories(t *testing.T) {
	schedtest.Stories(t, Plugin, &space.Space{}, "testdata")
}

func TestChaos(t *testing.T) {
	for _, options := range []string{`{"slots": 8, "interval": 1}`,
		`{"slots": 20, "interval": 2, "give": "best", "max": 5}`} {
		schedtest.Chaos(t, Plugin, schedtest.Problem(5), options)
	}
}

// B-030: amounts are exact decimals.
func TestAmounts(t *testing.T) {
	for _, c := range []struct{ request, want string }{
		{`{"cpu": 2, "gpu": "0.1"}`, `{"cpu":"6","gpu":"0.3"}`},
		{`{"memory": "8GiB", "a": 0.33}`, `{"a":"0.99","memory":"24GiB"}`},
		{`{"cpu": 0}`, `{"cpu":"0"}`},
	} {
		var r request
		if err := json.Unmarshal([]byte(c.request), &r); err != nil {
			t.Fatal(err)
		}
		if err := r.check(); err != nil || string(r.times(3)) != c.want {
			t.Errorf("three times %s is %s (%v), want %s", c.request, r.times(3), err, c.want)
		}
	}
}

func TestNoAmounts(t *testing.T) {
	for _, text := range []string{`{"cpu": -1}`, `{"cpu": "many"}`, `{"cpu": true}`, `{"cpu": 1e3}`, `{"cpu": [1]}`,
		`{"cpu": null}`} {
		if _, _, err := Plugin.Open(schedtest.Problem(1), []byte(`{"request": `+text+`}`)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// The number of slots is the capacity divided by the request of a trial; without either, the
// experiment's concurrency.
func TestRoom(t *testing.T) {
	for _, c := range []struct {
		request, capacity string
		want              int
	}{
		{`{"cpu": 2}`, `{"cpu": "16"}`, 8},
		{`{"cpu": "0.3"}`, `{"cpu": "1"}`, 3},
		{`{"cpu": 1, "gpu": "0.25"}`, `{"cpu": "16", "gpu": "2"}`, 8},
		{`{"cpu": 1, "memory": "4GiB"}`, `{"cpu": "16", "memory": "21474836480"}`, 5},
		{`{"cpu": 1, "memory": "4GB"}`, `{"cpu": "16", "memory": "21474836479"}`, 5},
		{`{"cpu": 1, "gpu": 0}`, `{"cpu": "3"}`, 3},
		{`{"gpu": 1}`, `{"cpu": "16"}`, 0},
		{`{"cpu": 0}`, `{"cpu": "16"}`, 0},
		{`{"cpu": 1}`, `{}`, 0},
		{`{"cpu": "0.000001"}`, `{"cpu": "16"}`, maxSlots},
	} {
		var r, capacity request
		if err := errors.Join(json.Unmarshal([]byte(c.request), &r), json.Unmarshal([]byte(c.capacity), &capacity),
			r.check(), capacity.check()); err != nil {
			t.Fatal(err)
		}
		if got := r.room(capacity); got != c.want {
			t.Errorf("%s in %s: %d slots, want %d", c.request, c.capacity, got, c.want)
		}
	}
}

// Unset options are taken from the problem.
func TestFromTheProblem(t *testing.T) {
	p := schedtest.Problem(2)
	p.Request, p.Capacity, p.Concurrency = []byte(`{"cpu":"2"}`), []byte(`{"cpu":"8","memory":"99"}`), 3
	for options, want := range map[string]struct {
		slots   int
		request string
	}{
		`{}`:                     {4, `{"cpu":"4"}`},
		`{"slots": 7}`:           {7, `{"cpu":"4"}`},
		`{"request": {"cpu":1}}`: {8, `{"cpu":"2"}`},
		`{"request": {"cpu":0}}`: {3, `{"cpu":"0"}`},
	} {
		s, _, err := Plugin.Open(p, []byte(options))
		if err != nil {
			t.Fatal(err)
		}
		if o := s.(*scheduler).options; o.Slots != want.slots || string(o.Request.times(2)) != want.request {
			t.Errorf("%s: %d slots, twice %s; want %+v", options, o.Slots, o.Request.times(2), want)
		}
	}
}

// Every trial ends, batching does not matter, and none exceeds its limit.
func TestEveryTrialEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sim := schedtest.DrawSim(t, schedtest.Limits{Trials: 12, Length: 20, Failing: 20})
		most := rapid.IntRange(1, 8).Draw(t, "max")
		options := fmt.Appendf(nil, `{"slots": %d, "max": %d, "step": %d, "interval": %d, "give": %q}`,
			rapid.IntRange(0, 12).Draw(t, "slots"), most,
			rapid.IntRange(1, 3).Draw(t, "step"), rapid.IntRange(1, 4).Draw(t,
				"interval"), rapid.SampledFrom([]string{even, best}).Draw(t, "give"))
		bounded(t, sim.Ends(t, func() sdk.Scheduler { return open1(t, sim.Trials, options) }), most)
	})
}

func bounded(t *rapid.T, h schedtest.History, most int) {
	for _, c := range h.Out.Commands {
		if c.Kind == sdk.Resize && slots(t, string(c.Resources)) > most {
			t.Fatalf("trial %d is given %s, of %d", c.Trial, c.Resources, most)
		}
	}
}

func slots(t *rapid.T, text string) (n int) {
	if _, err := fmt.Sscanf(text, `{"cpu":"%d"}`, &n); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

// While trials only end, grants never exceed the capacity, everything is granted, and shares differ
// by at most one.
func TestEvenSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trials := rapid.IntRange(1, 6).Draw(t, "trials")
		all := rapid.IntRange(trials, 20).Draw(t, "slots")
		s := open1(t, trials, fmt.Appendf(nil, `{"slots": %d, "interval": 1}`, all))
		has, number := map[uint32]int{}, uint64(0)
		tell := func(e sdk.Event) sdk.Decisions {
			number++
			e.Number = number
			out, err := s.Decide(t.Context(), []sdk.Event{e})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		for i := range uint32(trials) {
			tell(sdk.Event{Kind: sdk.TrialAdded, Trial: i})
			has[i] = 1
		}
		for round := uint64(1); len(has) > 0; round++ {
			for i := range has {
				d := tell(sdk.Event{Kind: sdk.ResultReported, Trial: i, Iteration: round, Losses: []float64{1}})
				if d.Decisions[0].Verdict != sdk.Pause {
					continue
				}
				for _, c := range tell(sdk.Event{Kind: sdk.TrialPaused, Trial: i}).Commands {
					if c.Kind == sdk.Resize {
						has[i] = slots(t, string(c.Resources))
					}
				}
			}
			sum, least, most := 0, all, 0
			for _, n := range has {
				sum, least, most = sum+n, min(least, n), max(most, n)
			}
			if sum != all || most-least > 1 {
				t.Fatalf("round %d: %v of %d", round, has, all)
			}
			for i := range has {
				tell(sdk.Event{Kind: sdk.TrialCompleted, Trial: i})
				delete(has, i)
				break
			}
		}
	})
}

// With "best" the trial with the best last result finally has all slots that others can spare,
// which keep one each; checked by examining all trials after each round.
func TestBestHasTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trials := rapid.IntRange(1, 6).Draw(t, "trials")
		all := rapid.IntRange(trials, 20).Draw(t, "slots")
		s := open1(t, trials, fmt.Appendf(nil, `{"slots": %d, "interval": 1, "give": "best"}`, all))
		has, losses, number := map[uint32]int{}, map[uint32]float64{}, uint64(0)
		tell := func(e sdk.Event) sdk.Decisions {
			number++
			e.Number = number
			out, err := s.Decide(t.Context(), []sdk.Event{e})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		for i := range uint32(trials) {
			tell(sdk.Event{Kind: sdk.TrialAdded, Trial: i})
			has[i] = 1
		}
		for iteration := uint64(1); len(has) > 0; iteration += 2 {
			for i := range uint32(trials) {
				losses[i] = float64(rapid.IntRange(0, 3).Draw(t, "loss"))
			}
			for again := range uint64(2) { // the first round shows which trial is best, the second makes the changes
				for i := range has {
					if d := tell(sdk.Event{Kind: sdk.ResultReported, Trial: i, Iteration: iteration + again,
						Losses: []float64{losses[i]}}); d.Decisions[0].Verdict != sdk.Pause {
						continue
					}
					for _, c := range tell(sdk.Event{Kind: sdk.TrialPaused, Trial: i}).Commands {
						if c.Kind == sdk.Resize {
							has[i] = slots(t, string(c.Resources))
						}
					}
				}
			}
			best := uint32(math.MaxUint32)
			for i := range has {
				if best == math.MaxUint32 || losses[i] < losses[best] || losses[i] == losses[best] && i < best {
					best = i
				}
			}
			for i, n := range has {
				if want := map[bool]int{true: all - len(has) + 1, false: 1}[i == best]; n != want && all > len(has) {
					t.Fatalf("trial %d with %v has %d of %d slots, want %d; the best is %d: %v", i, losses[i], n, all,
						want, best, has)
				}
			}
			tell(sdk.Event{Kind: sdk.TrialCompleted, Trial: best})
			delete(has, best)
		}
	})
}

func open1(t *rapid.T, trials int, options []byte) sdk.Scheduler {
	s, _, err := Plugin.Open(schedtest.Problem(trials), options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
