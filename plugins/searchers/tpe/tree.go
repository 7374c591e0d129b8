package tpe

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/conditions"
)

// A group has parameters that exist under the same condition and are modelled together. Groups are
// in the order of their first parameters, so a condition refers only to earlier groups.
type group struct {
	// own are the group's parameters. above are those of the groups that its condition refers to,
	// directly or indirectly: they exist wherever the group may exist, and are chosen before it.
	// Both are sorted and omit parameters of one value, except first.
	own, above []int
	// first is the group's first parameter, which tells whether it exists.
	first int
	// alone are the own parameters with one value.
	alone []int
}

// newGroups divides the space's parameters. Unless multivariate, each is separate.
func newGroups(s *space.Space, coordinates []coordinate, multivariate bool) []group {
	members := partition(s, multivariate)
	of := make([]int, len(s.Params))
	for g, list := range members {
		for _, i := range list {
			of[i] = g
		}
	}
	varies := func(i int) bool { return !coordinates[i].fixed }
	groups := make([]group, len(members))
	closures := make([][]int, len(members))
	for g, list := range members {
		groups[g].first = list[0]
		groups[g].own = filter(list, varies)
		groups[g].alone = filter(list, func(i int) bool { return coordinates[i].fixed })
		if multivariate {
			closures[g] = closure(s.Params[list[0]].When, of, closures)
			groups[g].above = filter(flatten(closures[g], members), varies)
		}
	}
	return groups
}

// partition groups parameters with equal conditions.
func partition(s *space.Space, multivariate bool) (members [][]int) {
	index := map[string]int{}
	for i := range s.Params {
		key := string(appendExpr(nil, s.Params[i].When))
		g, known := index[key]
		if !known || !multivariate {
			g = len(members)
			index[key] = g
			members = append(members, nil)
		}
		members[g] = append(members[g], i)
	}
	return members
}

// closure returns the groups that a condition refers to, directly or indirectly, in order. closures
// has those of earlier groups.
func closure(when *space.Expr, of []int, closures [][]int) (groups []int) {
	for _, i := range conditions.References(when, nil) {
		groups = append(groups, of[i])
		groups = append(groups, closures[of[i]]...)
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// appendExpr writes an expression such that equal ones have equal texts.
func appendExpr(b []byte, e *space.Expr) []byte {
	if e == nil {
		return b
	}
	b = append(b, byte(e.Op))
	b = binary.AppendVarint(b, int64(e.Param))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(e.Number))
	b = binary.AppendVarint(b, int64(len(e.Set)))
	for _, k := range e.Set {
		b = binary.AppendVarint(b, int64(k))
	}
	b = binary.AppendVarint(b, int64(len(e.Args)))
	for _, arg := range e.Args {
		b = appendExpr(b, arg)
	}
	return b
}

// flatten returns the members of groups, in order.
func flatten(groups []int, members [][]int) (list []int) {
	for _, g := range groups {
		list = append(list, members[g]...)
	}
	slices.Sort(list)
	return list
}

func filter(list []int, keep func(int) bool) (kept []int) {
	for _, i := range list {
		if keep(i) {
			kept = append(kept, i)
		}
	}
	return kept
}
