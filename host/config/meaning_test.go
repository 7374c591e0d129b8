package config

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// ofManyForms is a space for a condition and a constraint, with a parameter that may not exist and a constant.
const ofManyForms = `space:
  a: {grid: [0, 1, 2]}
  b: {choice: [0.0, 0.25]}
  i: {int: [-1, 1]}
  t: {choice: [one, two]}
  u: {choice: [1, two]}
  c: {int: [0, 1], when: "a < 2"}
  z: 0
  q: {int: [0, 1], when: %q}
constraints: [%q]
`

// randomNumber is an expression of a whole number or a real one.
func randomNumber(r *rand.Rand, depth int, whole bool) string {
	leaves, calls := []string{"b", "1.5", "0.0", "double(i)", "a * 1.0"}, []string{"sqrt(X)", "log(X)", "abs(X)"}
	if whole {
		leaves, calls = []string{"a", "i", "c", "z", "0", "1", "2"}, []string{"(X % X)"}
	}
	if depth == 0 {
		return pick(r, leaves)
	}
	form := pick(r, append(calls, "(X + X)", "(X - X)", "(X * X)", "(X / X)", "(X / X)", "(-X)", "(T ? X : X)"))
	return filled(r, depth, whole, form)
}

// randomTruth is an expression that is true or false.
func randomTruth(r *rand.Rand, depth int) string {
	if depth == 0 {
		return pick(r, []string{"t == 'one'", "i > 0", "a != 0", "c == 1", "t.startsWith('o')", "u > 1",
			"u in [1, 'two']"})
	}
	return filled(r, depth, r.IntN(2) == 0, pick(r, []string{"(T && T)", "(T || T)", "!T", "(T ? T : T)", "(T == T)",
		"(X in [X, X])", "(X < X)", "(X <= X)", "(X > X)", "(X == X)", "(X != X)"}))
}

// filled replaces X in a form by numbers, and T by truths.
func filled(r *rand.Rand, depth int, whole bool, form string) string {
	var out strings.Builder
	for _, c := range form {
		switch c {
		case 'X':
			out.WriteString(randomNumber(r, depth-1, whole))
		case 'T':
			out.WriteString(randomTruth(r, depth-1))
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// An expression has one meaning: the trees of conditions and constraints, which plugins evaluate, say at each point
// what the host says.
func TestTreesMeanWhatTheHostMeans(t *testing.T) {
	r, compared := rand.New(rand.NewPCG(1, 2)), 0
	for range 250 {
		when, constraint := randomTruth(r, 1+r.IntN(3)), randomTruth(r, 1+r.IntN(3))
		e, err := Parse("x.yaml", []byte(fmt.Sprintf(ofManyForms, when, constraint)+base))
		if err != nil || e.Space.Opaque {
			continue
		}
		compared++
		if err := e.Space.Validate(); err != nil {
			t.Errorf("%s, %s: %v", when, constraint, err)
		}
		sameEverywhere(t, e)
	}
	if compared < 100 {
		t.Errorf("%d expressions were compared", compared)
	}
}

func sameEverywhere(t *testing.T, e *Experiment) {
	t.Helper()
	q := len(e.Space.Params) - 1
	for _, p := range everyPoint(e) {
		whole := slices.Clone(p)
		whole[q] = 0
		v := e.Prune(whole).values
		if _, exists := v.Params["q"]; exists != e.Space.Active(p, q) {
			t.Errorf("%s at %v: the host says %v", e.Key("space"), p, exists)
			return
		}
		if broken := errors.Is(e.broken(e.Constraints[0], v), ErrRefused); broken == e.Space.Holds(whole) {
			t.Errorf("%s at %v: the host says %v", e.Constraints[0].Program.Source(), whole, !broken)
			return
		}
	}
}
