package tpe

import (
	"math"
	"slices"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	. "github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

// some returns points of the space in coordinates, and weights.
func some(s *space.Space, cs []coordinate, n int) (at [][]float64, weights []float64) {
	rng := space.NewRand(3)
	for i := range n {
		p, _ := s.Sample(rng)
		x := make([]float64, len(p))
		for k := range p {
			x[k] = cs[k].of(p[k])
		}
		at, weights = append(at, x), append(weights, 1+float64(i%3))
	}
	return at, weights
}

func coordinatesOf(s *space.Space) (cs []coordinate, all []int) {
	for i := range s.Params {
		cs, all = append(cs, newCoordinate(s, i)), append(all, i)
	}
	return cs, all
}

func gauss(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// plain returns the density of one kernel with centre m at x, directly from its definition.
func plain(c *coordinate, x, m, width, pseudo float64) float64 {
	switch {
	case c.choices > 0 && math.IsNaN(m):
		return 1 / float64(c.choices)
	case c.choices > 0 && x == m:
		return (1 + pseudo) / (1 + float64(c.choices)*pseudo)
	case c.choices > 0:
		return pseudo / (1 + float64(c.choices)*pseudo)
	case math.IsNaN(m) && c.low == 0:
		return 1
	case math.IsNaN(m):
		m, width = 0, 1.0/normalWidth
		z := (x - m) / width
		return math.Exp(-z*z/2) / width / math.Sqrt(2*math.Pi)
	}
	width = max(min(width, 1), c.cellAt(m)/2)
	z := (x - m) / width
	return math.Exp(-z*z/2) / width / math.Sqrt(2*math.Pi) / (gauss((c.high-m)/width) - gauss((c.low-m)/width))
}

func TestDensityAsDefined(t *testing.T) {
	s := EveryForm()
	cs, _ := coordinatesOf(s)
	indices := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	at, weights := some(s, cs, 40)
	at[5][0], at[6][9], at[7][7] = nan, nan, nan
	points, _ := some(s, cs, 60)
	const prior = 2.0
	m := newMixture(cs, nil, indices, nil, parts{at: at[:20], weights: weights[:20], prior: prior, width: same(0.1)})
	none := make([]float64, len(s.Params))
	for i := range none {
		none[i] = nan
	}
	for _, x := range points[20:] {
		want := 0.0
		for j, centre := range append(at[:20:20], none) {
			w := prior
			if j < 20 {
				w = weights[j]
			}
			for _, i := range indices {
				w *= plain(&cs[i], x[i], centre[i], 0.1, prior/21)
			}
			want += w
		}
		got := m.logDensity(x[:11], make([]float64, 21))
		if math.Abs(got-math.Log(want)) > 1e-6 {
			t.Errorf("density at %v: %g, want %g", x, got, math.Log(want))
		}
	}
}

// A mixture that copies kernels of another one is the same, whichever trials they share: some are gone, some are new,
// one has the index of a suggestion with another point, and the rooms have other numbers.
func TestKernelsOfAnotherMixture(t *testing.T) {
	s := EveryForm()
	cs, all := coordinatesOf(s)
	at, weights := some(s, cs, 40)
	for i := range at[:25] {
		at[i][i%len(all)] = nan
	}
	const index = 9
	mixtureOf := func(trials []int, points [][]float64, known int, before *mixture, room []float64) *mixture {
		p := parts{trials: trials, weights: weights[:len(trials)], prior: 1, width: same(0.2), before: before,
			room: room}
		for _, i := range trials {
			p.at = append(p.at, points[i])
		}
		return newMixture(cs, all[:known], all[known:], at[30], p)
	}
	other := slices.Clone(at)
	other[index] = slices.Clone(at[20])
	full := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}
	for name, c := range map[string]struct {
		trials []int
		points [][]float64
		known  int
	}{"the same": {full, at, 3}, "less": {[]int{2, 3, 7, 13}, at, 3}, "none": {[]int{21, 22}, at, 3},
		"more": {[]int{0, 1, 2, 4, 5, 9, 10, 12, 13, 14, 30}, at, 3}, "another point": {full, other, 3},
		"other parameters": {full, at, 4}} {
		before := mixtureOf(full, at, 3, nil, nil)
		got := mixtureOf(c.trials, c.points, c.known, before, slices.Repeat([]float64{nan}, 10_000))
		want := mixtureOf(c.trials, c.points, c.known, nil, nil)
		x := at[31][c.known:]
		n := len(got.logs)
		if !slices.Equal(got.logs, want.logs) || !slices.Equal(got.shares, want.shares) ||
			got.logDensity(x, make([]float64, n)) != want.logDensity(x, make([]float64, n)) {
			t.Errorf("%s: %v, want %v", name, got.logs, want.logs)
		}
		for k := range got.free {
			if !slices.Equal(got.free[k].divisor, want.free[k].divisor) && got.free[k].coordinate.choices == 0 {
				t.Errorf("%s, parameter %d: %v, want %v", name, k, got.free[k].divisor, want.free[k].divisor)
			}
		}
	}
}

// Draws have the distribution of the density: compares the share of draws in the lower half of each
// parameter.
func TestDrawsAsDense(t *testing.T) {
	s := Reals(1, 0, 1)
	s.Params = append(s.Params, space.Param{Name: "c", Kind: space.Choice, Choices: Raws("1", "2", "3")},
		space.Param{Name: "n", Kind: space.Normal, SD: 3}, space.Param{Name: "i", Kind: space.Int, High: 3})
	cs, all := coordinatesOf(s)
	at, weights := some(s, cs, 7)
	m := newMixture(cs, nil, all, nil, parts{at: at, weights: weights, prior: 1, width: near})
	rng := space.NewRand(1)
	const draws = 200_000
	below := make([]float64, len(all))
	for range draws {
		kernel := m.pick(rng.Float64())
		for k := range m.free {
			if m.free[k].draw(kernel, rng.Float64()) < []float64{0.5, 1, 0, 0.5}[k] {
				below[k] += 1.0 / draws
			}
		}
	}
	for k, share := range below {
		if want := mass(m, k); math.Abs(share-want) > 0.005 {
			t.Errorf("%s: %.4f of the draws are low, want %.4f", s.Params[k].Name, share, want)
		}
	}
}

// mass integrates the marginal density of the lower half of column k.
func mass(m *mixture, k int) (sum float64) {
	weights := []float64{1, 2, 3, 1, 2, 3, 1, 1}
	for j, w := range weights {
		c := &m.free[k]
		switch {
		case c.coordinate.choices > 0 && j == 7:
			sum += w / 14 / 3
		case c.coordinate.choices > 0:
			for u := 0.0005; u < 1; u += 0.001 {
				if c.draw(j, u) == 0 {
					sum += w / 14 * 0.001
				}
			}
		case c.scale[j] == 0:
			sum += w / 14 / 2
		default:
			low, high := c.coordinate.low, c.coordinate.high
			f := func(x float64) float64 { return gauss((x - c.centre[j]) / c.width[j]) }
			sum += w / 14 * (f((low+high)/2) - f(low)) / (f(high) - f(low))
		}
	}
	return sum
}

func TestChoiceDraws(t *testing.T) {
	c := column{coordinate: &coordinate{choices: 4}, centre: []float64{2, nan}, move: 0.4}
	counts := map[float64]int{}
	for i := range 1000 {
		counts[c.draw(0, (float64(i)+0.5)/1000)]++
		counts[10+c.draw(1, (float64(i)+0.5)/1000)]++
	}
	for value, want := range map[float64]int{0: 100, 1: 100, 2: 700, 3: 100, 10: 250, 11: 250, 12: 250, 13: 250} {
		if counts[value] != want {
			t.Errorf("value %v: %d times, want %d", value, counts[value], want)
		}
	}
}

// A truncated normal distribution on [0, 1] and a normal one have no mass outside.
func TestDrawsInside(t *testing.T) {
	for _, s := range []*space.Space{Reals(1, 0, 1), {Params: []space.Param{{Kind: space.Normal, SD: 1}}}} {
		cs, all := coordinatesOf(s)
		for _, centre := range []float64{cs[0].low, 0.5, cs[0].high} {
			m := newMixture(cs, nil, all, nil, parts{at: [][]float64{{centre}}, weights: []float64{1},
				prior: 1, width: same(0.001)})
			for _, u := range []float64{0, 1e-300, 0.5, 1 - 1e-16} {
				if x := m.free[0].draw(0, u); !(x >= cs[0].low && x <= cs[0].high) {
					t.Errorf("centre %v, u %v: %v", centre, u, x)
				}
			}
		}
	}
}
