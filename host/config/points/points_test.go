package points

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

const (
	ten = "[1,2,3,4,5,6,7,8,9,10]"
	// endless never holds, and a million steps are not enough to see that.
	endless = ten + ".exists(a," + ten + ".exists(b," + ten + ".exists(c," + ten + ".exists(d," + ten +
		".exists(e, lr > 2.0)))))"
)

func experiment(t *testing.T, more string, reading int) *config.Experiment {
	t.Helper()
	text := "version: 1\nobjective: {metric: loss, mode: min}\ntrainable: {command: [a]}\n" + more + "\n"
	e, err := config.Parse("a.yaml", []byte(text), config.Recorded(reading))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A constraint or a condition that takes too many steps is an error at its place. An experiment that began before
// goes on as it began: the constraint held, and the condition did not.
func TestTooManySteps(t *testing.T) {
	lr, m := "space: {lr: {uniform: [0, 1]}}\n", "space: {lr: {uniform: [0, 1]}, m: {when: '"+endless+"', "
	for more, want := range map[string]string{
		lr + "constraints: ['" + endless + "']": "a.yaml:5:15: the constraint ",
		m + "int: [1, 2]}}":                     `a.yaml:4:42: parameter "m": its condition `,
		m + "sample: lr * 2}}":                  `a.yaml:4:42: parameter "m": its condition `,
	} {
		e := experiment(t, more, config.Reading)
		p := space.Point{0.5, math.NaN()}[:len(e.Space.Params)]
		_, err := Suggest(e, 1, 0, p)
		if !errors.Is(err, expr.ErrUnevaluable) || !strings.Contains(err.Error(), want) ||
			!strings.HasSuffix(err.Error(), "cannot be evaluated: the expression takes too many steps where lr is "+
				"0.5; write a shorter one") {
			t.Errorf("%s: %v", more, err)
		}
		if g, err := Suggest(experiment(t, more, 4), 1, 0, p); err != nil || string(g.Params) != `{"lr":0.5}` {
			t.Errorf("%s, an old record: %s, %v", more, g.Params, err)
		}
	}
}

// A record of earlier reading rules is replayed with the draws that it had: a hundred for a point of the searcher, and
// one for a point of the user.
func TestDrawsOfEarlierRecords(t *testing.T) {
	e := experiment(t, "space: {lr: {uniform: [0, 1]}}\nconstraints: ['[1].exists(a, lr > 0.999)']", 4)
	found := 0
	for seed := range uint64(20) {
		_, err := Suggest(e, seed, 0, space.Point{0.5})
		if err == nil {
			found++
		} else if !errors.Is(err, config.ErrRefused) || errors.Is(err, space.ErrTight) {
			t.Error(err)
		}
		if _, err := Complete(e, seed, 0, space.Point{math.NaN()}); !errors.Is(err, config.ErrRefused) ||
			errors.Is(err, space.ErrTight) {
			t.Error(err)
		}
	}
	if found > 10 {
		t.Errorf("%d of 20 points were found", found)
	}
}

// A constraint that only the host can check is one as any other: points are drawn until it holds, also for values that
// the user gives, and where it cannot hold, the error says so.
func TestConstraintsOfTheHost(t *testing.T) {
	more := "space: {lr: {uniform: [0, 1]}, b: {uniform: [0, 1]}}\nconstraints: ['[1].exists(a, lr > LIMIT)']"
	e := experiment(t, strings.Replace(more, "LIMIT", "0.995", 1), config.Reading)
	for seed := range uint64(5) {
		if _, err := Suggest(e, seed, 0, space.Point{0.5, 0.5}); err != nil {
			t.Error(err)
		}
		if g, err := Complete(e, seed, 0, space.Point{math.NaN(), 0.25}); err != nil ||
			!strings.Contains(string(g.Params), `"b":0.25`) {
			t.Errorf("%s, %v", g.Params, err)
		}
	}
	if err := Possible(e); err != nil {
		t.Error(err)
	}
	if _, err := Complete(e, 1, 0, space.Point{0.5, 0.5}); !errors.Is(err, config.ErrRefused) ||
		errors.Is(err, space.ErrTight) {
		t.Errorf("a complete point: %v", err)
	}
	e = experiment(t, strings.Replace(more, "LIMIT", "2.0", 1), config.Reading)
	_, err := Suggest(e, 1, 0, space.Point{0.5, 0.5})
	for _, err := range []error{err, Possible(e)} {
		if !errors.Is(err, space.ErrTight) || !strings.Contains(err.Error(), "[1].exists(a, lr > 2.0)") {
			t.Error(err)
		}
	}
}
