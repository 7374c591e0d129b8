package points

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

const (
	coin  = "space: {u: {uniform: [0, 1]}, b: {sample: 'uniform(0, 1)'}, c: {sample: b * 2}}\n"
	fair  = coin + "constraints: ['c > 0.6']"
	unfit = coin + "constraints: ['c > 2.5']"
)

// ways make a trial of a point, each in one way of the host.
var ways = map[string]func(e *config.Experiment, seed uint64) ([]byte, error){
	"suggested": func(e *config.Experiment, seed uint64) ([]byte, error) {
		g, err := Suggest(e, seed, 0, space.Point{0.5})
		return g.Params, err
	},
	"partial": func(e *config.Experiment, seed uint64) ([]byte, error) {
		g, err := Complete(e, seed, 0, space.Point{math.NaN()})
		return g.Params, err
	},
	"given": func(e *config.Experiment, seed uint64) ([]byte, error) {
		g, err := Complete(e, seed, 0, space.Point{0.5})
		return g.Params, err
	},
	"exploited": func(e *config.Experiment, seed uint64) ([]byte, error) {
		return Exploited(e, seed, Exploit{Point: space.Point{0.5}})
	},
	"learned": func(e *config.Experiment, seed uint64) ([]byte, error) {
		return e.Adopt([]byte(`{"u": 0.5}`), seed)
	},
}

// Each try of a point has random numbers of its own, so that a constraint over them holds for one. A point that holds
// at once is what it is without the constraint, and the same seed gives the same trial.
func TestTriesDrawAnew(t *testing.T) {
	e, free, tight := experiment(t, fair, config.Reading), experiment(t, coin, config.Reading),
		experiment(t, unfit, config.Reading)
	for name, try := range ways {
		asBefore, different := 0, map[string]bool{}
		for seed := range uint64(40) {
			seed *= 1 << 20
			got, err := try(e, seed)
			again, _ := try(e, seed)
			if err != nil || !bytes.Equal(got, again) {
				t.Errorf("%s, seed %d: %s, then %s, %v", name, seed, got, again, err)
			}
			if first, _ := try(free, seed); bytes.Equal(got, first) {
				asBefore++
			}
			different[string(got)] = true
		}
		if asBefore < 20 || asBefore == 40 || len(different) < 40 {
			t.Errorf("%s: %d first tries, %d different trials", name, asBefore, len(different))
		}
		if _, err := try(tight, 1); !errors.Is(err, config.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// redrawn is the reading since when each try has random numbers of its own.
const redrawn = 6

// A record of earlier reading rules keeps its random numbers: all tries have the same, and only the point is another.
func TestTriesOfEarlierRecords(t *testing.T) {
	now := experiment(t, fair, redrawn)
	for reading := 1; reading < redrawn; reading++ {
		e := experiment(t, fair, reading)
		for name, try := range ways {
			for seed := range uint64(20) {
				got, err := try(e, seed)
				later, _ := try(now, seed)
				if err == nil && !bytes.Equal(got, later) || err != nil && !errors.Is(err, config.ErrRefused) {
					t.Errorf("%s, reading %d, seed %d: %s, later %s, %v", name, reading, seed, got, later, err)
				}
			}
		}
	}
	_, err := Suggest(experiment(t, fair, redrawn-1), refusedSeed(t), 0, space.Point{0.5})
	if !errors.Is(err, space.ErrTight) {
		t.Errorf("the random numbers were drawn again: %v", err)
	}
}

// refusedSeed returns a seed whose first try is refused.
func refusedSeed(t *testing.T) uint64 {
	t.Helper()
	free := experiment(t, coin, config.Reading)
	for seed := range uint64(100) {
		var c float64
		g, err := Suggest(free, seed, 0, space.Point{0.5})
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(g.Params), `"c":`)
		if _, err := fmt.Sscanf(rest, "%g", &c); err != nil {
			t.Fatal(err)
		}
		if c < 0.6 {
			return seed
		}
	}
	t.Fatal("no try is refused")
	return 0
}

// Random numbers that no constraint depends on are those of the first try, as without the constraint.
func TestOtherRandomNumbersStay(t *testing.T) {
	e := experiment(t, coin+"constraints: ['[1].exists(a, u > 0.9)']", config.Reading)
	free := experiment(t, coin, config.Reading)
	for seed := range uint64(20) {
		got, err := Suggest(e, seed, 0, space.Point{0.5})
		first, _ := Suggest(free, seed, 0, space.Point{0.5})
		a, _, _ := bytes.Cut(got.Params, []byte(`,"u"`))
		b, _, _ := bytes.Cut(first.Params, []byte(`,"u"`))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s, without the constraint %s, %v", got.Params, first.Params, err)
		}
	}
}

// Each combination of a grid has a trial with random numbers that the constraint allows.
func TestGridOfRandomConstraint(t *testing.T) {
	e := experiment(t, "space: {a: {grid: [1, 2]}, b: {sample: 'uniform(0, 1)'}}\nconstraints: ['b > 0.95']",
		config.Reading)
	plan := NewPlan(e)
	if plan.Combinations() != 2 {
		t.Fatalf("%d combinations", plan.Combinations())
	}
	for n := range uint64(6) {
		g, err := Suggest(e, 1, n, plan.cells.point(n))
		if want := fmt.Sprintf(`{"a":%d,`, n%2+1); err != nil || !strings.HasPrefix(string(g.Params), want) {
			t.Errorf("%s, %v", g.Params, err)
		}
	}
}

// What is remembered of a trial whose suggestion was refused is the point that it got.
func TestMemoryOfRefused(t *testing.T) {
	e := experiment(t, "space: {u: {uniform: [0, 1]}}\nconstraints: ['[1].exists(a, u > 0.9)']", config.Reading)
	m := NewMemory()
	g, err := m.Suggest(e, 1, 0, space.Point{0.5})
	if err != nil {
		t.Fatal(err)
	}
	want, err := config.PointOf(e.Space, g.Params)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Encode(func([]byte) (space.Point, error) { return nil, errors.New("it was forgotten") })(g.Params)
	if err != nil || got[0] != want[0] {
		t.Errorf("%v, want %v, %v", got, want, err)
	}
}
