package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/tunehost/tunehost/core/resource"
)

// plan is drawn from the seed at the beginning: the experiment, and how many
// faults of each kind happen.
type plan struct {
	settings
	nodes      []resource.Node
	saves      bool
	segment    int64
	snapshots  uint64
	iterations uint64 // that a trial trains at most
	events     int    // before the faults stop
	scheduler  string
	remembers  bool // plugins make snapshots
	plateau    *plateau
	results    int  // that end the experiment; 0: none
	maximum    bool // the objective is maximised

	faults faults
}

// faults are rates of faults in thousandths; each comment says of what.
type faults struct {
	// of steps; of those at a file operation; of those that are losses of power; in recoveries
	death, deathIO, power, deathAgain int
	io, full                          int // of steps: a failing disk; a full one
	crash, hang, silent, nonsense     int // of epochs of trials
	badStart, damage                  int // of starts of trials; of checkpoints, at steps
	stale                             int // of steps: late news of attempts that are over
	plugin, slowPlugin, garbage       int // of calls
	rot                               int // of restarts: snapshots that have rotted
	node, user, leave, jump, slow     int // of steps
	notFinite                         int // of results
	retell                            int // of restarts: the reporter has forgotten all
}

// strength enables one fault in three, with a random rate.
func strength(r *rand.Rand, most int) int {
	if r.IntN(3) > 0 {
		return 0
	}
	return 1 + r.IntN(most)
}

func drawFaults(r *rand.Rand) faults {
	return faults{
		death: 10 + r.IntN(60)*(1+r.IntN(4)), deathIO: r.IntN(1000), power: []int{0, 300, 500,
			1000}[r.IntN(4)], deathAgain: strength(r, 500),
		io: strength(r, 30), full: strength(r, 10), crash: strength(r, 200), hang: strength(r, 50), silent: strength(r,
			30), nonsense: strength(r, 30),
		badStart: strength(r, 100), damage: strength(r, 20), stale: strength(r, 100), plugin: strength(r,
			150), slowPlugin: strength(r, 300),
		garbage: strength(r, 50), rot: strength(r, 500), node: strength(r, 20), user: strength(r,
			60), leave: strength(r, 10), jump: strength(r, 30),
		slow: strength(r, 200), notFinite: strength(r, 150), retell: 150,
	}
}

func draw(seed uint64, r, wide *rand.Rand, o Options) (*plan, error) {
	p := &plan{faults: drawFaults(r), saves: r.IntN(6) > 0, events: 20 + r.IntN(600),
		segment: []int64{0, 2048, 8192}[r.IntN(3)], snapshots: []uint64{0, 1, 3, 7, 20}[r.IntN(5)]}
	p.remembers = r.IntN(2) == 0
	p.iterations = 1 + r.Uint64N(9)
	p.trials = 1 + r.IntN(12)
	if o.Small {
		p.trials, p.iterations = 1+r.IntN(3), 1+r.Uint64N(3)
	}
	p.first = p.trials
	p.segment, p.snapshots = cmp.Or(o.SegmentBytes, p.segment), cmp.Or(o.SnapshotEvery, p.snapshots)
	p.file(seed, r)
	for i := range []int{1, 1, 1, 2, 2, 3}[r.IntN(6)] {
		capacity, err := resource.ParseBundle(fmt.Sprintf("cpu=%d", 1+r.IntN(4)+max(0, 1-i)))
		if err != nil {
			return nil, err
		}
		p.nodes = append(p.nodes, resource.Node{ID: uint32(i + 1), Name: fmt.Sprint("node", i+1), Capacity: capacity})
	}
	if !o.Narrow && !o.Small {
		p.widen(wide)
		p.snapshots = cmp.Or(o.SnapshotEvery, p.snapshots)
	}
	return p, p.parse()
}

var searchers = []string{"random", "random", "sobol", "tpe", "{plugin: tpe, startup: 3}", "evolution",
	"{plugin: grid, resolution: 3}", "cmaes", "auto", "nsga2", "bohb"}

func (p *plan) schedulers() []string {
	n := p.iterations
	all := []string{"fifo", "median", "{plugin: median, grace: 1, min_trials: 1}",
		fmt.Sprintf("{plugin: asha, max: %d, reduction_factor: 2}", n), fmt.Sprintf("{plugin: asha, max: %d}", n),
		fmt.Sprintf("{plugin: asha, max: %d, reduction_factor: 2, grace: %d}", n, min(2, n)),
		fmt.Sprintf("{plugin: patience, patience: 2, grace: %d}", n/2+1)}
	if p.saves {
		all = append(all, fmt.Sprintf("{plugin: asha, max: %d, reduction_factor: 2, type: promotion}", n),
			fmt.Sprintf("{plugin: asha, max: %d, type: promotion, brackets: 2}", max(n, 4)),
			fmt.Sprintf("{plugin: hyperband, max: %d}", max(n, 3)), fmt.Sprintf("{plugin: bohb, max: %d}", max(n, 3)),
			fmt.Sprintf("{plugin: pbt, interval: 2, max: %d}", n), fmt.Sprintf("{plugin: pbt, interval: 1, max: %d, "+
				"sync: true}", n),
			fmt.Sprintf("{plugin: pb2, interval: 2, max: %d}", n), fmt.Sprintf("{plugin: mf-pbt, interval: 1, "+
				"periods: [1, 2], quantile: 0.34, max: %d}", n),
			fmt.Sprintf("{plugin: mf-pbt, interval: 1, periods: [1, 3], quantile: 0.34, max: %d, sync: true}", n))
	}
	return all
}

// file draws the contents of the experiment file.
func (p *plan) file(seed uint64, r *rand.Rand) {
	p.scheduler = pick(r, p.schedulers())
	p.set("version", "1")
	p.set("name", "sim")
	p.set("seed", "%d", seed)
	mode := pick(r, []string{"max", "min"})
	p.maximum = mode == "max"
	p.set("objective", "{metric: score, mode: %s}", mode)
	p.search(pick(r, searchers))
	p.set("scheduler", "%s", p.scheduler)
	p.set("space", "{x: {uniform: [0, 1]}, lr: {loguniform: [1e-5, 1]}, kind: {choice: [a, b, c]}}")
	p.set("trials", "%d", p.trials)
	p.set("wait_for_resources", "true")
	p.set("resources", "{cpu: %s}", pick(r, []string{"1", "1", "2", "0.5"}))
	if r.IntN(2) == 0 {
		p.set("concurrency", "%d", 1+r.IntN(5))
	}
	if r.IntN(6) == 0 {
		p.set("repeat", "%d", 2+r.IntN(2))
	}
	if r.IntN(4) == 0 && p.trials > 1 {
		p.set("points", "[{x: 0.5}, {x: 0.1, kind: b}]")
	}
	p.endings(r)
}

func (p *plan) endings(r *rand.Rand) {
	if r.IntN(3) > 0 {
		p.set("failures", "{retries: %d}", r.IntN(5)-1)
	} else if r.IntN(8) == 0 {
		p.set("failures", "{fail_fast: %s}", pick(r, []string{"true", "raise"}))
	}
	if r.IntN(3) > 0 {
		p.checkpoints(r)
	}
	if r.IntN(2) == 0 {
		p.set("stop", "{iteration: %d}", 1+r.Uint64N(p.iterations+2))
	}
	if r.IntN(12) == 0 {
		p.set("budget", "{time: %ds}", 10+r.IntN(200))
	} else if r.IntN(8) == 0 {
		p.set("budget", "{trials_failed: %d}", 1+r.IntN(4))
	}
	p.set("strict_metrics", "%t", r.IntN(4) > 0)
}

func (p *plan) checkpoints(r *rand.Rand) {
	checkpoint := fmt.Sprintf("every: %d, at_end: %t", r.IntN(4), r.IntN(2) == 0)
	if r.IntN(2) == 0 {
		checkpoint += fmt.Sprintf(", keep: %d", 1+r.IntN(3))
	}
	if r.IntN(3) == 0 {
		checkpoint += ", score: score, mode: max"
	}
	if r.IntN(4) == 0 {
		checkpoint += fmt.Sprintf(", disk: %d", 30+r.IntN(300))
	}
	p.set("checkpoint", "{%s}", checkpoint)
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
