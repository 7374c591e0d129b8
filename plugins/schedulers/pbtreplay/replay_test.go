package pbtreplay

import (
	"fmt"
	"math"
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

func TestPlugin(t *testing.T) { schedtest.Plugin(t, Plugin) }

// B-010, B-107
func TestStories(t *testing.T) {
	schedtest.Stories(t, Plugin, two, "testdata")
}

func problem(trials int) sdk.Problem {
	p := schedtest.Problem(trials)
	p.Space = two
	return p
}

const policy = `{"policy": [{"iteration": 2, "params": {"lr": 0.2}}, {"iteration": 3, "params": {"optimizer": "sgd"}}, {"iteration": 7, "params": {"lr": 0.7}}]}`

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
	fails := rapid.SliceOfN(rapid.IntRange(0, 29), 53, 53).Draw(t, "fails")
	failing := rapid.Bool().Draw(t, "failing")
	picks, drawn := rapid.SliceOfN(rapid.IntRange(0, 1000), 31, 31).Draw(t, "picks"), 0
	return schedtest.Sim{
		Trials:  rapid.IntRange(1, 9).Draw(t, "trials"),
		Workers: rapid.IntRange(1, 6).Draw(t, "workers"),
		Length:  rapid.Uint64Range(1, 12).Draw(t, "length"),
		Burst:   rapid.IntRange(1, 4).Draw(t, "burst"),
		Loss:    func(trial uint32, _ uint64) float64 { return float64(trial) },
		Fails: func(trial uint32, iteration uint64) bool {
			return failing && fails[(uint64(trial)*29+iteration)%53] == 0
		},
		Point: func(uint32) space.Point { return space.Point{0, 0} },
		Pick:  func(n int) int { drawn++; return picks[drawn%31] % n },
	}
}

// Whatever fails, nobody waits for ever; and batching does not matter. When nothing
// fails, each pair of trials replays the whole policy.
func TestEveryTrialEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sim := drawSim(t)
		planned := sim.Trials
		if sim.SearchEnds = rapid.Bool().Draw(t, "search ends"); sim.SearchEnds {
			planned = 0
		}
		h, err := sim.Run(opened(t, planned))
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Ends) != sim.Trials {
			t.Fatalf("%d of %d trials ended", len(h.Ends), sim.Trials)
		}
		if sim.Burst == 1 && sim.Length > 7 && !anyFailed(h) { // nothing has run ahead to its end
			whole(t, h, sim.Trials/2)
		}
		if err := schedtest.Cuts(opened(t, planned), h, sim.Pick); err != nil {
			t.Fatal(err)
		}
	})
}

func anyFailed(h schedtest.History) bool {
	for _, e := range h.Events {
		if e.Kind == sdk.TrialFailed {
			return true
		}
	}
	return false
}

// whole: each pair exploited at 2, 3 and 7, each time the other's checkpoint.
func whole(t *rapid.T, h schedtest.History, pairs int) {
	seen := map[uint32][]string{}
	for _, c := range h.Out.Commands {
		if c.Kind == sdk.Exploit {
			seen[c.Trial/2] = append(seen[c.Trial/2], fmt.Sprint(c.Donor%2, "@", c.Iteration, c.Point))
		}
	}
	for pair := range uint32(pairs) {
		if got, want := fmt.Sprint(seen[pair]), "[0@2 [0.2 0] 1@3 [0.2 1] 0@7 [0.7 1]]"; got != want {
			t.Fatalf("pair %d: %s, want %s", pair, got, want)
		}
	}
}

func TestOptions(t *testing.T) {
	for text, want := range map[string]string{
		`[{"iteration": 0, "params": {}}]`:                                       "option policy: entry 1 is at iteration 0; iterations begin at 1 and rise",
		`[{"iteration": 5, "params": {}}, {"iteration": 5, "params": {}}]`:       "option policy: entry 2 is at iteration 5; iterations begin at 1 and rise",
		`[{"iteration": 5, "params": {"lrr": 1}}]`:                               "",
		`[{"iteration": 5, "params": {"lr": 2}}]`:                                "",
		`[{"iteration": 5}]`:                                                     "",
		`[{"iteration": 5, "params": {"optimizer": "adam"}, "donor": 3}]`:        "",
		fmt.Sprintf(`[{"iteration": %d, "params": {}}]`, uint64(math.MaxUint64)): "option policy: entry 1 is at iteration 18446744073709551615; iterations begin at 1 and rise",
	} {
		_, _, err := Plugin.Open(problem(2), []byte(`{"policy": `+text+`}`))
		if err == nil || want != "" && err.Error() != want {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
