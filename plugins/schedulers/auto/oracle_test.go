package auto

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// oracle is a slow second implementation: it keeps all events, and recomputes everything from them
// for each decision, with ranks by counting and without whole numbers.
type oracle struct {
	max     uint64
	seed    uint64
	history []sdk.Event
	stopped map[uint32]bool // and those that ended otherwise
}

// visit is a trial's arrival at a rung.
type visit struct {
	rung         uint64
	early, final float64
}

// visits returns the arrivals in order, and the numbers of those with a final loss in the order of
// their ends.
func (o *oracle) visits() (all map[uint64][]*visit, ended map[uint64][]*visit, length uint64) {
	all, ended, length = map[uint64][]*visit{}, map[uint64][]*visit{}, o.max
	own, over, last := map[uint32][]*visit{}, map[uint32]bool{}, map[uint32]uint64{}
	for _, e := range o.history {
		end := e.Kind == sdk.TrialCompleted && len(e.Losses) > 0
		if over[e.Trial] {
			continue
		}
		if e.Kind == sdk.ResultReported {
			last[e.Trial] = max(last[e.Trial], e.Iteration)
			if o.max > 0 && e.Iteration >= o.max {
				end = true
			} else if r := highest(e.Iteration, own[e.Trial]); r > 0 {
				v := &visit{rung: r, early: e.Losses[0]}
				own[e.Trial], all[r] = append(own[e.Trial], v), append(all[r], v)
			}
		}
		if end {
			total := max(last[e.Trial], e.Iteration)
			length = max(length, total)
			for _, v := range own[e.Trial] {
				if v.rung < total {
					v.final = e.Losses[0]
					ended[v.rung] = append(ended[v.rung], v)
				}
			}
		}
		over[e.Trial] = end || isEnd(e.Kind)
	}
	return all, ended, length
}

// highest returns the highest power of three up to the iteration and above all earlier ones, or 0.
func highest(iteration uint64, earlier []*visit) (r uint64) {
	for p := uint64(1); p <= iteration; p *= 3 {
		r = p
	}
	for _, v := range earlier {
		if v.rung >= r {
			return 0
		}
	}
	return r
}

func latest(v []*visit, n int) []*visit { return v[max(0, len(v)-n):] }

// middle returns the middle rank of x among all.
func middle(x float64, all []float64) (rank float64) {
	for _, y := range all {
		switch {
		case y < x:
			rank++
		case y == x:
			rank += 0.5
		}
	}
	return rank
}

func values(v []*visit, f func(*visit) float64) (x []float64) {
	for _, w := range v {
		x = append(x, f(w))
	}
	return x
}

func early(v *visit) float64 { return v.early }
func final(v *visit) float64 { return v.final }

func covariance(a, b []float64) (sum float64) {
	ma, mb := mean(a), mean(b)
	for i := range a {
		sum += (a[i] - ma) * (b[i] - mb)
	}
	return sum / float64(len(a))
}

func mean(a []float64) (sum float64) {
	for _, x := range a {
		sum += x / float64(len(a))
	}
	return sum
}

func rank(x, among []float64) (out []float64) {
	for _, v := range x {
		out = append(out, middle(v, among))
	}
	return out
}

// share returns the share of the trials that goes on.
func share(arrived, ended []*visit) float64 {
	rho, known := 0.0, 0.0
	if n := float64(len(ended)); n > 3 {
		x, y, all := values(ended, early), values(ended, final), values(arrived, early)
		a, b := rank(x, x), rank(y, y)
		if aa, bb := covariance(a, a), covariance(b, b); aa > 0 && bb > 0 {
			rho = covariance(a, b) / math.Sqrt(aa*bb)
		}
		wider := 1.0
		if v := covariance(rank(x, all), rank(x, all)); v > 1e-9 {
			wider = min(6, max(1, covariance(rank(all, all), rank(all, all))/v))
		}
		rho *= math.Sqrt(wider / (1 + rho*rho*(wider-1)))
		known = (n - 3) / wider
	}
	m := (4*0.85 + known*rho) / (4 + known)
	bound := m - 1.25*(1-m*m)/math.Sqrt(4+known)
	if known > 0 {
		bound = min(bound, rho)
	}
	if bound < 0.3 {
		return 1
	}
	return max(0.4, 1-bound)
}

// check checks one answer: which trials are stopped, except where rounding decides.
func (o *oracle) check(e sdk.Event, out sdk.Decisions) error {
	before, _, _ := o.visits()
	if o.stopped[e.Trial] {
		if len(out.Decisions) > 0 {
			return fmt.Errorf("decides about a trial that has ended: %+v", out)
		}
		return nil
	}
	o.history = append(o.history, e)
	stop := len(out.Decisions) == 1 && out.Decisions[0].Verdict == sdk.Stop
	want, sure := o.wants(e, before)
	if sure && stop != want {
		return fmt.Errorf("stop is %v, want %v", stop, want)
	}
	o.stopped[e.Trial] = stop || isEnd(e.Kind)
	return nil
}

func isEnd(k sdk.EventKind) bool {
	return k == sdk.TrialCompleted || k == sdk.TrialFailed || k == sdk.TrialRemoved
}

func (o *oracle) wants(e sdk.Event, before map[uint64][]*visit) (stop, sure bool) {
	if e.Kind != sdk.ResultReported {
		return false, true
	}
	if o.max > 0 && e.Iteration >= o.max {
		return true, true
	}
	all, ended, length := o.visits()
	for r, arrived := range all {
		if len(arrived) == len(before[r]) {
			continue
		}
		if length > 0 && r >= length || spared(o.seed, e.Trial) {
			return false, true
		}
		arrived = latest(arrived, 1000)
		kept := share(arrived, latest(ended[r], 200)) * float64(len(arrived))
		losses := values(arrived, early)
		slices.Sort(losses)
		cut := losses[max(1, int(kept))-1]
		return e.Losses[0] > cut, math.Abs(kept-math.Round(kept)) > 1e-9
	}
	return false, true
}

// B-153
func TestAgainstRecomputing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sim := schedtest.DrawSim(t, schedtest.Limits{Trials: 90, Length: 30, Failing: 40})
		sim.Step = schedtest.DrawSteps(t, 3)
		noise, random := rapid.SampledFrom([]uint64{0, 5, 40}).Draw(t, "noise"), sim.Loss
		if rapid.Bool().Draw(t, "ordered") { // with all 90 trials, so that much is learnt
			sim.Trials = 90
			sim.Loss = func(trial uint32, iteration uint64) float64 {
				return float64(mix(uint64(trial))%100 + mix(uint64(trial)<<32|iteration)%(noise+1))
			}
		} else {
			sim.Loss = random
		}
		o := &oracle{max: rapid.Uint64Range(0, 30).Draw(t, "max"), seed: 1, stopped: map[uint32]bool{}}
		s := schedtest.Open(t, Plugin, schedtest.Problem(0), fmt.Sprintf(`{"max": %d}`, o.max))
		if _, err := sim.Run(schedtest.Checked(s, o.check)); err != nil {
			t.Fatal(err)
		}
	})
}
