package pbtreplay

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

var two = &space.Space{Params: []space.Param{
	{Name: "lr", Kind: space.Real, Low: 0, High: 1},
	{Name: "optimizer", Kind: space.Choice, Choices: [][]byte{[]byte(`"adam"`), []byte(`"sgd"`)}},
}}

// B-010, B-107
func TestStories(t *testing.T) {
	schedtest.Stories(t, Plugin, two, "testdata")
}

func problem(trials int) sdk.Problem {
	p := schedtest.Problem(trials)
	p.Space = two
	return p
}

const policy = `{"policy": [{"iteration": 2, "params": {"lr": 0.2}}, {"iteration": 3, "params": {"optimizer": ` +
	`"sgd"}}, {"iteration": 7, "params": {"lr": 0.7}}]}`

func TestChaos(t *testing.T) {
	for _, options := range []string{`{}`, policy} {
		schedtest.Chaos(t, Plugin, problem(5), options)
	}
}

func opened(t *rapid.T, trials int) sdk.Scheduler {
	s, _, err := Plugin.Open(problem(trials), []byte(policy))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func drawSim(t *rapid.T) schedtest.Sim {
	failing := rapid.SampledFrom([]int{0, 30}).Draw(t, "failing")
	sim := schedtest.DrawSim(t, schedtest.Limits{Trials: 9, Length: 12, Failing: failing})
	sim.Step = schedtest.DrawSteps(t, 3)
	sim.Point = func(uint32) space.Point { return space.Point{0, 0} }
	return sim
}

// Whatever fails, no trial waits for ever; batching does not matter; and it decides like the
// oracle.
func TestEveryTrialEnds(t *testing.T) {
	changes := 0
	rapid.Check(t, func(t *rapid.T) {
		sim := drawSim(t)
		h := sim.Ends(t, func() sdk.Scheduler { return opened(t, sim.Trials) })
		if err := schedtest.Cuts(&oracle{trials: map[uint32]*follower{}}, h.WithoutReasons(), sim.Pick); err != nil {
			t.Fatal(err)
		}
		changes += len(h.Out.Commands)
	})
	if changes == 0 {
		t.Error("nothing was changed")
	}
}

// oracle is a second implementation for the policy of these tests: it loops over the whole policy
// at each event.
type oracle struct{ trials map[uint32]*follower }

type follower struct {
	reached uint64 // iteration up to which the policy was applied
	pausing uint64 // iteration of the current pause; 0: it runs
	point   space.Point
	asked   bool
	ended   bool
}

var schedule = []struct {
	iteration uint64
	param     int
	value     float64
}{{2, 0, 0.2}, {3, 1, 1}, {7, 0, 0.7}}

func (o *oracle) Decide(_ context.Context, events []sdk.Event) (out sdk.Decisions, _ error) {
	for _, e := range events {
		f := o.trials[e.Trial]
		if f == nil {
			f = &follower{}
			o.trials[e.Trial] = f
		}
		switch {
		case e.Kind == sdk.TrialAdded:
			f.point = e.Point
		case e.Kind == sdk.ResultReported && f.pausing == 0 && !f.ended:
			f.result(e, &out)
		case e.Kind == sdk.TrialPaused:
			f.change(e.Trial, &out)
		case e.Kind == sdk.TrialCompleted, e.Kind == sdk.TrialFailed:
			f.ended = true
		}
	}
	return out, nil
}

// due returns the iteration of the first entry that was not applied yet.
func (f *follower) due() uint64 {
	for _, x := range schedule {
		if x.iteration > f.reached {
			return x.iteration
		}
	}
	return 1 << 53
}

func (f *follower) result(e sdk.Event, out *sdk.Decisions) {
	d := sdk.Decision{Event: e.Number}
	switch {
	case e.Iteration >= f.due():
		d.Verdict, f.pausing, f.asked = sdk.Pause, e.Iteration, false
	case !f.asked:
		d.Until, f.asked = f.due(), true
	default:
		return
	}
	out.Decisions = append(out.Decisions, d)
}

func (f *follower) change(trial uint32, out *sdk.Decisions) {
	f.point = slices.Clone(f.point)
	for _, x := range schedule {
		if x.iteration > f.reached && x.iteration <= f.pausing {
			f.point[x.param] = x.value
		}
	}
	out.Commands = append(out.Commands, sdk.Command{Kind: sdk.Exploit, Trial: trial, Donor: trial, Iteration: f.pausing,
		Point: f.point})
	f.reached, f.pausing = f.pausing, 0
}

func TestOptions(t *testing.T) {
	for text, want := range map[string]string{
		`[{"iteration": 0, "params": {}}]`: `option "policy.0.iteration" is 0; ` +
			`allowed: a whole number from 1`,
		`[{"iteration": 5, "params": {}}, {"iteration": 5, "params": {}}]`: `option "policy.1.iteration" is 5; ` +
			`allowed: more than 5, that of the one before`,
		`[{"iteration": 5, "params": {"lrr": 1}}]`:                        "",
		`[{"iteration": 5, "params": {"lr": 2}}]`:                         "",
		`[{"iteration": 5}]`:                                              "",
		`[{"iteration": 5, "params": {"optimizer": "adam"}, "donor": 3}]`: "",
		fmt.Sprintf(`[{"iteration": %d, "params": {}}]`,
			uint64(math.MaxUint64)): `option "policy.0.iteration" is 18446744073709551615; allowed: a whole number ` +
			`from 1 to 9007199254740992`,
	} {
		_, _, err := Plugin.Open(problem(2), []byte(`{"policy": `+text+`}`))
		if err == nil || want != "" && err.Error() != want {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
