package sim

import (
	"fmt"
	"math/rand/v2"
)

// width has later additions to the simulator, drawn separately, so that the run of
// an old failed seed stays the same without them ([Options].Narrow).
type width struct {
	r *rand.Rand
	// In thousandths: of hosts that start, those with other settings, and with a
	// reporter that is behind; of snapshots, when a host has died, those that are
	// torn; of steps, those at which the clock goes to the end of time.
	change, behind, torn, era int
}

func drawWidth(r *rand.Rand, o Options) width {
	w := width{r: r}
	if !o.Narrow {
		w.change, w.behind, w.torn, w.era = strength(r, 400), strength(r, 500), strength(r, 500), strength(r, 10)
	}
	return w
}

// might is one of the separately drawn additions.
func (w *world) might(thousandth int) bool {
	return !w.calm && thousandth > 0 && w.width.r.IntN(1000) < thousandth
}

// widen draws the additions to the experiment.
func (p *plan) widen(r *rand.Rand) {
	if r.IntN(5) == 0 {
		p.group(r)
	}
	if r.IntN(5) == 0 {
		p.rules(r)
	}
	if r.IntN(4) == 0 { // plugins that often continue from a snapshot
		p.remembers, p.snapshots, p.faults.plugin = true, 1+r.Uint64N(3), max(p.faults.plugin, 60)
	}
	if p.grids && r.IntN(3) > 0 { // a grid that ends soon
		p.search(fmt.Sprintf("{plugin: grid, resolution: %d}", 1+r.IntN(2)))
	}
}

// group makes trials request bundles on several nodes, at most on all.
func (p *plan) group(r *rand.Rand) {
	p.grouped = true
	p.remove("resources")
	strategies := []string{"pack", "spread", "strict_pack"}
	if len(p.nodes) > 1 {
		strategies = append(strategies, "strict_spread", "strict_spread")
	}
	bundles := pick(r, []string{"{cpu: 1}, {cpu: 1}", "{cpu: 0.5}, {cpu: 0.5}", "{cpu: 1}, {cpu: 0.5}"})
	p.set("placement", "{bundles: [%s], strategy: %s}", bundles, pick(r, strategies))
}

// rules draws rules with state, which depend on earlier results.
func (p *plan) rules(r *rand.Rand) {
	p.ruled = true
	if r.IntN(3) > 0 {
		p.plateau = &plateau{last: 2 + r.IntN(2), grace: r.IntN(3), patience: r.IntN(2),
			std: []float64{0.02, 0.1}[r.IntN(2)]}
		p.set("stop", "{plateau: {last: %d, std: %v, grace: %d, patience: %d}}", p.plateau.last, p.plateau.std,
			p.plateau.grace, p.plateau.patience)
	}
	if r.IntN(3) == 0 {
		p.results = 5 + r.IntN(60)
		p.set("budget", "{when: \"results >= %d\"}", p.results)
	}
}

// tear damages a snapshot: it keeps a part of it, nothing, or something else.
func (w *world) tear(b []byte) []byte {
	r := w.width.r
	switch r.IntN(4) {
	case 0:
		return b[:r.IntN(len(b))]
	case 1:
		return nil
	case 2:
		return append(b, b[:r.IntN(len(b))]...)
	}
	for i := r.IntN(len(b)); i < len(b); i++ {
		b[i] = byte(r.Uint32())
	}
	return b
}

// otherSnapshot has the name of one snapshot and the contents of another.
func (w *world) otherSnapshot(names []string) {
	fs := w.disks.snapshots
	if len(names) > 1 {
		fs.WriteBytes(pick(w.width.r, names), fs.ReadBytes(pick(w.width.r, names)))
	}
}

// eras are extreme times of day: before the epoch, and at the
// largest representable time.
var eras = []int64{0, -1_000_000_000, 1<<63 - 1 - 400*24*3600*1_000_000_000}

func (w *world) era() { w.clock.jump(pick(w.width.r, eras)) }
