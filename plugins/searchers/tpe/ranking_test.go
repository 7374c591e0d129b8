package tpe

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/pareto"
	. "github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

func TestLadder(t *testing.T) {
	l := &ladder{}
	for i, loss := range []float64{3, 1, 2, 1, 5} {
		l.add(i, []float64{loss})
	}
	l.remove(4, []float64{5})
	trials, weights := l.best(3)
	if fmt.Sprint(trials, l.size()) != "[1 3 2] 4" {
		t.Error(trials, l.size())
	}
	// Equal losses have the same weight, and the mean is 1.
	if weights[0] != weights[1] || weights[1] <= weights[2] || math.Abs(weights[0]+weights[1]+weights[2]-3) > 1e-12 {
		t.Error(weights)
	}
	for i := range 3 * maxRungs {
		l.add(10+i, []float64{-float64(i)})
	}
	if trials, _ = l.best(2); len(l.rungs) != maxRungs ||
		fmt.Sprint(trials) != fmt.Sprint([]int{9 + 3*maxRungs, 8 + 3*maxRungs}) {
		t.Error(trials, len(l.rungs))
	}
}

// someFront returns random trials.
func someFront(seed uint64, n, dims int) (front []pareto.Scored) {
	rng := space.NewRand(seed)
	for i := range n {
		losses := make([]float64, dims)
		for m := range losses {
			losses[m] = rng.NormFloat64()
		}
		front = append(front, pareto.Scored{Trial: i, Losses: losses})
	}
	return front
}

func TestFronts(t *testing.T) {
	f := &fronts{}
	for _, s := range someFront(5, 3000, 2) {
		f.add(s.Trial, s.Losses)
	}
	f.add(7000, []float64{-9, -9})
	f.add(7001, []float64{-8, -10})
	f.add(7002, []float64{-8, -8})
	trials, weights := f.best(2)
	slices.Sort(trials)
	if fmt.Sprint(trials, weights, f.size(), len(f.pool) <= maxPool) != "[7000 7001] [1 1] 3003 true" {
		t.Error(trials, weights, f.size(), len(f.pool))
	}
	f.remove(7000, nil)
	if trials, _ = f.best(1); trials[0] != 7001 {
		t.Error(trials)
	}
	if trials, _ = f.best(5000); len(trials) != len(f.pool) {
		t.Error(len(trials))
	}
}

// More objectives than volumes are computed for, equal and huge losses.
func TestManyObjectives(t *testing.T) {
	f := &fronts{}
	for _, s := range someFront(5, 300, 8) {
		f.add(s.Trial, s.Losses)
	}
	if trials, _ := f.best(20); len(trials) != 20 {
		t.Error(trials)
	}
	f = &fronts{}
	for i := range 30 {
		f.add(i, []float64{1, math.MaxFloat64 * float64(i%3-1), 2})
	}
	if trials, _ := f.best(12); len(trials) != 12 {
		t.Error(trials)
	}
}

// The weights of the bad trials add up to their number, the last ones are included, and the sample
// is spread over all.
func TestMembers(t *testing.T) {
	m := &members{}
	for i := range 20_000 {
		m.add(i, uint32(i))
	}
	good, pending := []int{3, 500, 19_990}, []int{20_001, 20_002}
	trials, weights := m.others(good, pending)
	sum, middle := 0.0, 0
	for k, i := range trials {
		sum += weights[k]
		if i < 10_000 {
			middle++
		}
		if has(good, i) || k > 0 && trials[k-1] >= i {
			t.Fatal(trials)
		}
	}
	if math.Abs(sum-(20_000-3+2)) > 1e-6 || !has(trials, 19_999) || !has(trials, 20_002) {
		t.Error(sum, trials)
	}
	if middle < 70 || middle > 122 || len(trials) != maxSample+maxRecent-1+2 {
		t.Errorf("%d of %d from the first half", middle, len(trials))
	}
	if trials, _ = m.others(nil, seq(30_000, 1000)); len(trials) != maxSample+maxRecent+maxPending {
		t.Error(len(trials))
	}
}

func seq(first, n int) (list []int) {
	for i := range n {
		list = append(list, first+i)
	}
	return list
}

// With few trials all are included, and each represents itself.
func TestFewMembers(t *testing.T) {
	m := &members{}
	for i := range 200 {
		m.add(i, uint32(i))
	}
	trials, weights := m.others([]int{7}, nil)
	if len(trials) != 199 || slices.Min(weights) != 1 || slices.Max(weights) != 1 {
		t.Error(len(trials), weights)
	}
}

func TestGroups(t *testing.T) {
	sp := Tree()
	cs, _ := coordinatesOf(sp)
	var got []string
	for _, g := range newGroups(sp, cs, true) {
		got = append(got, fmt.Sprint(g.own, g.above))
	}
	want := []string{"[0 1] []", "[2 3 4] [0 1]", "[5 6 7] [0 1]", "[8 9 10 14] [0 1]", "[11 12 13] [0 1]",
		"[15] [0 1 8 9 10 14]"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if groups := newGroups(sp, cs, false); len(groups) != 16 || groups[15].above != nil {
		t.Errorf("%d groups", len(groups))
	}
}

// A value converted to a coordinate and back does not change.
func TestCoordinates(t *testing.T) {
	sp := EveryForm()
	cs, _ := coordinatesOf(sp)
	rng := space.NewRand(9)
	for range 500 {
		p, _ := sp.Sample(rng)
		for i, x := range p {
			u := cs[i].of(x)
			if back := cs[i].value(u); math.Abs(back-x) > 1e-12*math.Abs(x) {
				t.Fatalf("%s: %v is at %v, which is %v", sp.Params[i].Name, x, u, back)
			}
			if cs[i].choices == 0 && !(u >= cs[i].low && u <= cs[i].high) {
				t.Fatalf("%s: %v is at %v", sp.Params[i].Name, x, u)
			}
		}
	}
	if !cs[11].fixed || cs[9].choices != 4 || cs[10].cell != 0.2 || !(cs[5].cellAt(0) > 10*cs[5].cellAt(1)) {
		t.Error(cs)
	}
}

// Fronts approach that of a problem with two losses: f1 = x, f2 = g·(1-√(x/g)).
func TestFrontQuality(t *testing.T) {
	got, random := frontVolume(t, "{}"), frontVolume(t, `{"startup": 1000}`)
	if t.Logf("%.3f; random %.3f", got, random); got < 0.2 {
		t.Errorf("the front's volume is %.3f; the best is 0.667", got)
	}
}

// frontVolume is the mean volume, of the square up to (1, 1), that the trials of a few runs
// dominate.
func frontVolume(t *testing.T, options string) (mean float64) {
	const runs = 4
	sp := Reals(5, 0, 1)
	for number := range runs {
		var points [][]float64
		Run(t, mustOpenN(t, sp, options, 2), sp, number, 120, 1, func(p space.Point) []float64 {
			g := 1.0
			for _, x := range p[1:] {
				g += 9 * x / 4
			}
			losses := []float64{p[0], g * (1 - math.Sqrt(p[0]/g))}
			points = append(points, []float64{min(1, losses[0]), min(1, losses[1])})
			return losses
		})
		mean += pareto.Volume(points) / runs
	}
	return mean
}
