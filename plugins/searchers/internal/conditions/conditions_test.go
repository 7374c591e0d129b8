package conditions

import (
	"slices"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

func TestReferences(t *testing.T) {
	in := &space.Expr{Op: space.In, Param: 3, Set: []int{1}}
	number := &space.Expr{Op: space.Number, Param: 5}
	less := &space.Expr{Op: space.Lt, Args: []*space.Expr{number, {Op: space.Const, Param: 9}}}
	both := &space.Expr{Op: space.And, Args: []*space.Expr{in, less}}
	if got := References(both, nil); !slices.Equal(got, []int{3, 5}) {
		t.Error(got)
	}
	if got := References(nil, nil); got != nil {
		t.Error(got)
	}
}
