package fidelity

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// told adds a trial that reports value + 100/iteration up to an iteration, and ends.
func told(t *Trials, i int, value float64, until uint64) (changed bool) {
	t.Add()
	for n := uint64(1); n <= until; n++ {
		t.Report(i, n, []float64{value + 100/float64(n)})
	}
	return t.End(i, false)
}

// B-152
func TestOneIteration(t *testing.T) {
	all := New(2)
	var changed []bool
	for i, until := range []uint64{9, 1, 3, 9, 9} {
		changed = append(changed, told(all, i, []float64{5, 6, 4, 3, 2}[i], until))
	}
	if got := fmt.Sprint(changed); got != "[true true true true false]" {
		t.Errorf("the level changed %s", got)
	}
	for i, want := range []string{"[16.11111111111111]", "[]", "[]", "[14.11111111111111]", "[13.11111111111111]"} {
		if got := fmt.Sprint(all.Losses(i)); got != want {
			t.Errorf("trial %d: %s, want %s", i, got, want)
		}
	}
	if compared, stopped := all.Ended(); compared != 3 || stopped != 2 {
		t.Errorf("%d are compared, %d were stopped", compared, stopped)
	}
}

// B-152: a trial that went on counts with its loss at the level.
func TestTheLevelIsOfAll(t *testing.T) {
	all := New(3)
	for i, until := range []uint64{3, 3, 3, 9, 9} {
		told(all, i, float64(i), until)
	}
	if got, want := fmt.Sprint(all.Losses(4)), fmt.Sprint([]float64{4 + 100.0/3}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	told(all, 5, 0, 9)
	if got, want := fmt.Sprint(all.Losses(4)), fmt.Sprint([]float64{4 + 100.0/9}); got != want || all.Losses(0) != nil {
		t.Errorf("%s and %v, want %s and none", got, all.Losses(0), want)
	}
}

// A trial that continues after a pause reaches the level.
func TestPaused(t *testing.T) {
	all := New(1)
	told(all, 0, 1, 9)
	told(all, 1, 0, 3)
	all.End(1, true)
	if all.Losses(1) != nil {
		t.Error(all.Losses(1))
	}
	for n := uint64(4); n <= 9; n++ {
		all.Report(1, n, []float64{float64(n)})
	}
	if changed := all.End(1, false); changed || fmt.Sprint(all.Losses(1)) != "[9]" {
		t.Error(changed, all.Losses(1))
	}
	if compared, stopped := all.Ended(); compared != 2 || stopped != 0 {
		t.Errorf("%d are compared, %d were stopped", compared, stopped)
	}
}

// Without an iteration the losses are the last ones.
func TestUnknownIteration(t *testing.T) {
	all := New(1)
	told(all, 0, 1, 9)
	all.Add()
	all.Report(1, 0, []float64{7})
	all.End(1, false)
	if got := fmt.Sprint(all.Losses(1)); got != "[7]" {
		t.Error(got)
	}
	if compared, stopped := all.Ended(); compared != 2 || stopped != 0 {
		t.Errorf("%d are compared, %d were stopped", compared, stopped)
	}
}

// Trials of different lengths that are not chosen by their losses count with their last ones;
// trials that are stopped because they are bad do not.
func TestEndsOfTheirOwn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, until := range map[string]func(value float64) uint64{
		"own lengths":         func(float64) uint64 { return 5 + rng.Uint64N(50) },
		"the bad are stopped": func(value float64) uint64 { return 50 - uint64(45*value) },
	} {
		t.Run(name, func(t *testing.T) {
			all := New(5)
			for i := range 60 {
				value := rng.Float64()
				told(all, i, value, until(value))
			}
			_, stopped := all.Ended()
			if want := name != "own lengths"; (stopped > 0) != want {
				t.Errorf("%d count as stopped", stopped)
			}
		})
	}
}

// What is kept of a curve is bounded, and near any level there is a result.
func TestLongCurves(t *testing.T) {
	all := New(1)
	told(all, 0, 0, 3000)
	if n := len(all.trials[0].at); n > 140 {
		t.Errorf("%d results are kept", n)
	}
	told(all, 1, 0, 3001)
	got, want := all.trials[0].upTo(1000)[0], 100.0/1000
	if got < want || got > 1.06*want {
		t.Errorf("%v at 1000, want about %v", got, want)
	}
	for i := range recent {
		told(all, i+2, 1, 3001)
	}
	if n := len(all.trials[0].at); n != 1 {
		t.Errorf("%d results of an old trial are kept", n)
	}
}

// Pauses say nothing about what is stopped: all trials pause, the good ones too.
func TestPausesAreNotJudged(t *testing.T) {
	all := New(3)
	for i := range 200 {
		all.Add()
		for n := uint64(1); n <= 9; n++ {
			all.Report(i, n, []float64{float64(i * 37 % 200)})
			if n == 3 {
				all.End(i, true)
			}
			if n == 3 && i*37%200 > 60 {
				all.End(i, false)
				break
			}
		}
		all.End(i, false)
	}
	if compared, stopped := all.Ended(); compared != 61 || stopped != 139 {
		t.Errorf("%d are compared, %d were stopped", compared, stopped)
	}
}

// half always draws one half, which is not below the share of random points.
type half struct{}

func (half) Float64() float64 { return 0.5 }

// zero always draws 0.
type zero struct{}

func (zero) Float64() float64 { return 0 }

// Models are left out while only far too early losses can be compared, and for a share of the
// suggestions while trials are stopped.
func TestBlind(t *testing.T) {
	all := New(2)
	state := func() string { return fmt.Sprint(all.Blind(half{}), all.Blind(zero{})) }
	for i, c := range []struct {
		until uint64
		want  string
	}{{1, "false false"}, {1, "false false"}, {30, "true true"}, {3, "true true"}, {4, "false true"}} {
		if told(all, i, float64(i), c.until); state() != c.want {
			t.Errorf("after trial %d: %s at level %d, want %s", i, state(), all.level, c.want)
		}
	}
}
