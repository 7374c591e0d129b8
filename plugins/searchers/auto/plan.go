package auto

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/cmaes"
	"github.com/tunehost/tunehost/plugins/searchers/evolution"
	"github.com/tunehost/tunehost/plugins/searchers/gp"
	"github.com/tunehost/tunehost/plugins/searchers/nsga2"
	"github.com/tunehost/tunehost/plugins/searchers/tpe"
)

// searchers are the possible choices.
var searchers = map[string]sdk.SearcherPlugin{
	"cmaes": cmaes.Plugin, "evolution": evolution.Plugin, "gp": gp.Plugin, "nsga2": nsga2.Plugin, "tpe": tpe.Plugin,
}

// The numbers of the rules; doc.go has the reasons.
const (
	mostForModels = 500 // parameters
	mostForGP     = 60  // parameters
	firstMix      = 10  // ended trials
	firstMany     = 250
	firstMost     = 1000
	mostFronts    = 3 // objectives
)

// A phase begins when from trials have ended. Trial n is answered by turns[n mod len(turns)].
type phase struct {
	from  int
	turns []string
}

// facts are the inputs of the choice.
type facts struct {
	params      int // with more than one value
	choices     int // of these, without an order
	conditional bool
	objectives  int
}

// look determines the facts.
func look(problem sdk.Problem) facts {
	f := facts{objectives: max(1, len(problem.Objectives))}
	for i := range problem.Space.Params {
		p := &problem.Space.Params[i]
		if !varies(problem.Space, i) {
			continue
		}
		f.params++
		f.conditional = f.conditional || p.When != nil
		if p.Kind == space.Choice {
			f.choices++
		}
	}
	return f
}

// searches reports whether there is anything to choose: the host combines the values of grids itself.
func searches(s *space.Space) bool {
	for i := range s.Params {
		if !s.Params[i].Grid && varies(s, i) {
			return true
		}
	}
	return false
}

// varies reports whether a parameter has more than one value.
func varies(s *space.Space, i int) bool { return s.FromUnit(i, 0) != s.FromUnit(i, 1) }

// many is "1 parameter" or "2 parameters".
func many(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

func (f facts) String() string {
	text := fmt.Sprintf("%s (%s)", many(f.params, "parameter"), many(f.choices, "choice"))
	if f.conditional {
		text += " with conditions"
	}
	if f.objectives > 1 {
		text += fmt.Sprintf(", %d objectives", f.objectives)
	}
	return text
}

// choose returns the plan.
func choose(f facts) []phase {
	switch {
	case f.params > mostForModels:
		return []phase{{0, []string{"evolution"}}}
	case f.params > mostForGP:
		return []phase{{0, []string{"tpe"}}}
	}
	return append([]phase{{0, []string{"gp"}}, {firstMix, []string{"gp", "gp", "gp", "tpe"}}}, later(f)...)
}

// later returns the phases after the first ones.
func later(f facts) []phase {
	switch {
	case f.objectives > mostFronts:
		return []phase{{firstMany, []string{"tpe"}}}
	case f.objectives > 1:
		return []phase{{firstMany, []string{"nsga2"}}}
	case f.conditional || 2*f.choices > f.params:
		return []phase{{firstMany, []string{"gp", "tpe"}}, {firstMost, []string{"tpe"}}}
	}
	return []phase{{firstMany, []string{"cmaes", "gp", "cmaes", "tpe"}},
		{firstMost, []string{"cmaes", "cmaes", "cmaes", "tpe"}}}
}

// needs reports whether a phase uses the searcher.
func needs(plan []phase, name string) bool {
	return slices.ContainsFunc(plan, func(p phase) bool { return slices.Contains(p.turns, name) })
}

// describe returns the plan as text: gp, gp, tpe in turn until 250 trials have ended, then cmaes.
func describe(plan []phase) string {
	var parts []string
	for i, p := range plan {
		text := strings.Join(p.turns, ", ")
		if len(p.turns) > 1 {
			text += " in turn"
		}
		if i+1 < len(plan) {
			text += fmt.Sprintf(" until %d trials have ended", plan[i+1].from)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", then ")
}
