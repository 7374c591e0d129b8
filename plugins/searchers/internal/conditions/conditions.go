// Package conditions tells searchers which parameters a condition refers to.
package conditions

import "github.com/tunehost/tunehost/plugins/sdk/space"

// References appends the parameters that an expression refers to; nil refers to none.
func References(e *space.Expr, list []int) []int {
	if e == nil {
		return list
	}
	if e.Op == space.In || e.Op == space.Number {
		list = append(list, e.Param)
	}
	for _, arg := range e.Args {
		list = References(arg, list)
	}
	return list
}
