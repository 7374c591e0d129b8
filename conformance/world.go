package conformance

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// world is suites/world.yaml.
type world struct {
	Spaces map[string]spaceText `json:"spaces"`
	Fates  map[string]string    `json:"fates"`
}

type spaceText struct {
	Params      []paramText `json:"params"`
	Constraints []exprText  `json:"constraints"`
}

type paramText struct {
	Name    string            `json:"name"`
	Real    []float64         `json:"real"`
	Int     []float64         `json:"int"`
	Normal  []float64         `json:"normal"`
	Choice  []json.RawMessage `json:"choice"`
	Ordinal []json.RawMessage `json:"ordinal"`
	Log     bool              `json:"log"`
	Step    float64           `json:"step"`
	Grid    bool              `json:"grid"`
	When    *exprText         `json:"when"`
	Copies  int               `json:"copies"`
}

type exprText struct {
	Op     string     `json:"op"`
	Param  int        `json:"param"`
	Number float64    `json:"number"`
	Set    []int      `json:"set"`
	Args   []exprText `json:"args"`
}

var readWorld = sync.OnceValue(func() (w world) {
	mustRead("world", &w)
	return w
})

// ops are the names of package space's operations.
var ops = []string{"", "const", "number", "in", "neg", "add", "sub", "mul", "div", "intdiv", "mod",
	"lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "if"}

// spaceNamed returns a new space of world.yaml.
func spaceNamed(name string) (*space.Space, error) {
	text, ok := readWorld().Spaces[name]
	if !ok {
		return nil, fmt.Errorf("there is no space %q", name)
	}
	s := &space.Space{}
	for _, p := range text.Params {
		for n := range max(1, p.Copies) {
			s.Params = append(s.Params, p.param(n))
		}
	}
	for _, c := range text.Constraints {
		s.Constraints = append(s.Constraints, c.expr())
	}
	return s, s.Validate()
}

func (t *paramText) param(n int) space.Param {
	p := space.Param{Name: t.Name, Log: t.Log, Step: t.Step, Grid: t.Grid}
	if t.Copies > 0 {
		p.Name = fmt.Sprintf("%s%d", t.Name, n)
	}
	if t.When != nil {
		p.When = t.When.expr()
	}
	switch {
	case t.Real != nil:
		p.Kind, p.Low, p.High = space.Real, t.Real[0], t.Real[1]
	case t.Int != nil:
		p.Kind, p.Low, p.High = space.Int, t.Int[0], t.Int[1]
	case t.Normal != nil:
		p.Kind, p.Mean, p.SD = space.Normal, t.Normal[0], t.Normal[1]
	case t.Choice != nil:
		p.Kind, p.Choices = space.Choice, choices(t.Choice)
	default:
		p.Kind, p.Choices = space.Ordinal, choices(t.Ordinal)
	}
	return p
}

func choices(list []json.RawMessage) (out [][]byte) {
	for _, c := range list {
		out = append(out, c)
	}
	return out
}

func (t *exprText) expr() *space.Expr {
	e := &space.Expr{Op: space.Op(slices.Index(ops, t.Op)), Param: t.Param, Number: t.Number, Set: t.Set}
	for i := range t.Args {
		e.Args = append(e.Args, t.Args[i].expr())
	}
	return e
}

// A outcome is one thing that happens to a trial.
type outcome string

// script returns what happens to a trial with the fate.
func script(fate string) ([]outcome, error) {
	text, ok := readWorld().Fates[fate]
	if !ok {
		return nil, fmt.Errorf("there is no fate %q", fate)
	}
	var words []outcome
	for w := range strings.FieldsSeq(text) {
		words = append(words, outcome(w))
	}
	return words, nil
}

// kinds are the events of the words.
var kinds = map[outcome]sdk.EventKind{
	"start": sdk.TrialStarted, "result": sdk.ResultReported, "nan": sdk.ResultReported, "pause": sdk.TrialPaused,
	"requeue": sdk.TrialRequeued, "fail": sdk.TrialFailed, "complete": sdk.TrialCompleted, "remove": sdk.TrialRemoved,
	"save": sdk.CheckpointSaved,
}

// hash is SplitMix64 over the numbers: the source of all randomness of the suite.
func hash(numbers ...uint64) uint64 {
	x := uint64(0x74756e65)
	for _, n := range numbers {
		x = x ^ n + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}

// loss is the loss of a trial at p after a number of results: a quadratic function in the space's
// unit cube, with a little noise, decreasing with the iterations.
func loss(s *space.Space, p space.Point, salt uint64, trial uint32, result uint64) float64 {
	sum := float64(hash(salt, uint64(trial), result)%1000) / 2000
	for i, x := range p {
		if !math.IsNaN(x) {
			d := s.ToUnit(i, x) - 0.3
			sum += d * d
		}
	}
	return sum + 1/float64(1+result)
}

// problem returns a problem with a space of world.yaml and one objective.
func problem(name string) (sdk.Problem, error) {
	s, err := spaceNamed(name)
	return sdk.Problem{
		Space: s, Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}}, Seed: hash(uint64(len(name))),
	}, err
}

// problemOf returns the problem in a space with so many objectives, at least one: loss, loss1, loss2 and so on.
func problemOf(space string, objectives int) (sdk.Problem, error) {
	p, err := problem(space)
	for i := 1; i < objectives; i++ {
		p.Objectives = append(p.Objectives, sdk.Objective{Metric: fmt.Sprintf("loss%d", i), Mode: sdk.Min})
	}
	return p, err
}
