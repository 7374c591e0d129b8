package schedtest

import (
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Mixed has one parameter of each form. momentum exists only for the second optimizer.
var Mixed = &space.Space{Params: []space.Param{
	{Name: "lr", Kind: space.Real, Low: 1e-4, High: 1, Log: true},
	{Name: "dropout", Kind: space.Real, Low: 0, High: 1},
	{Name: "layers", Kind: space.Int, Low: 1, High: 4},
	{Name: "batch", Kind: space.Int, Low: 16, High: 128, Step: 16},
	{Name: "noise", Kind: space.Normal, Mean: 0, SD: 1},
	{Name: "optimizer", Kind: space.Choice, Choices: [][]byte{[]byte(`"adam"`), []byte(`"sgd"`)}},
	{Name: "size", Kind: space.Ordinal, Choices: [][]byte{[]byte(`"s"`), []byte(`"m"`), []byte(`"l"`)}},
	{Name: "momentum", Kind: space.Real, Low: 0, High: 0.9, Step: 0.1,
		When: &space.Expr{Op: space.In, Param: 5, Set: []int{1}}},
}}

// MixedProblem is [Problem] with the space [Mixed].
func MixedProblem(trials int) sdk.Problem {
	p := Problem(trials)
	p.Space = Mixed
	return p
}

// MixedPoint returns a point of [Mixed], a different one for each trial: for [Sim].Point.
func MixedPoint(trial uint32) space.Point {
	p := Mixed.Draw(space.NewRand(uint64(trial)))
	return Mixed.Complete(p, p)
}
