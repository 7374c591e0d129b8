package rust_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/vectors.json anew")

// vectors are answers of the Go package space, for src/space/tests.rs. NaN is null; 64-bit integers
// are strings.
type vectors struct {
	Random map[string][]string `json:"random"` // the first numbers of a seed
	Spaces []spaceVectors      `json:"spaces"`
}

type spaceVectors struct {
	Name string `json:"name"`
	// Open is an OpenSearcherRequest in hex, with the space; Exprs is another one whose space has
	// additional constraints.
	Open    string      `json:"open"`
	Exprs   string      `json:"exprs"`
	Size    *int        `json:"size"` // null when above 1000
	Left    []point     `json:"left"` // all points in order, when there is a size
	Samples []point     `json:"samples"`
	Units   [][]point   `json:"units"` // for each parameter: place, value, place again
	Points  []pointFate `json:"points"`
}

// pointFate has the results for a point that may lie outside the space.
type pointFate struct {
	Point  point  `json:"point"`
	Check  string `json:"check"`
	Holds  bool   `json:"holds"`
	Pruned point  `json:"pruned"`
	Values point  `json:"values"` // of the expressions
}

type point []float64

func (p point) MarshalJSON() ([]byte, error) {
	values := make([]*float64, len(p))
	for i := range p {
		if !math.IsNaN(p[i]) {
			values[i] = &p[i]
		}
	}
	return json.Marshal(values)
}

// TestVectors compares testdata/vectors.json with the Go package.
func TestVectors(t *testing.T) {
	v := vectors{Random: map[string][]string{}}
	for _, seed := range []uint64{0, 1, 1 << 63, math.MaxUint64} {
		r, name := space.NewRand(seed), strconv.FormatUint(seed, 10)
		for range 4 {
			v.Random[name] = append(v.Random[name], strconv.FormatUint(r.Uint64(), 10))
		}
	}
	for _, name := range []string{"wide", "odd", "small", "tight"} {
		v.Spaces = append(v.Spaces, describe(t, name, spaces[name]))
	}
	want, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	want = append(bytes.ReplaceAll(want, []byte(`{"name":`), []byte("\n{\"name\":")), '\n')
	const file = "testdata/vectors.json"
	if *rewrite {
		if err := os.WriteFile(file, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the Go package answers (%v): go test ./plugins/sdk/rust -run Vectors -rewrite", file,
			err)
	}
}

func expr(op space.Op, args ...*space.Expr) *space.Expr { return &space.Expr{Op: op, Args: args} }

func number(i int) *space.Expr { return &space.Expr{Op: space.Number, Param: i} }

func is(i int, set ...int) *space.Expr { return &space.Expr{Op: space.In, Param: i, Set: set} }

func choices(texts ...string) (raw [][]byte) {
	for _, text := range texts {
		raw = append(raw, []byte(text))
	}
	return raw
}

// spaces returns one space with every form, conditions and constraints; one with error-prone bounds
// and steps; a finite one; and one with strict constraints.
var spaces = map[string]*space.Space{
	"wide": {Params: []space.Param{
		{Name: "lr", Kind: space.Real, Low: 1e-5, High: 1, Log: true},
		{Name: "momentum", Kind: space.Real, Low: 0, High: 0.99},
		{Name: "layers", Kind: space.Int, Low: 1, High: 5},
		{Name: "width", Kind: space.Int, Low: 16, High: 4096, Log: true},
		{Name: "shift", Kind: space.Normal, Mean: 2, SD: 0.5},
		{Name: "optimizer", Kind: space.Choice, Choices: choices(`"sgd"`, `"adam"`, `3`, `-2.5e1`)},
		{Name: "batch", Kind: space.Ordinal, Choices: choices("16", "32", "64"), When: is(5, 1, 2)},
		{Name: "decay", Kind: space.Real, Low: 0, High: 1, When: expr(space.Gt, number(6), number(2))},
	}, Constraints: []*space.Expr{expr(space.Lt, expr(space.Mul, number(0), number(2)),
		&space.Expr{Op: space.Const, Number: 2})}},
	"odd": {Params: []space.Param{
		{Name: "tenths", Kind: space.Real, Low: -0.3, High: 0.75, Step: 0.1},
		{Name: "tiny", Kind: space.Real, Low: 1e-300, High: 1e300, Log: true},
		{Name: "far", Kind: space.Int, Low: -(1 << 53), High: 1 << 53},
		{Name: "same", Kind: space.Real, Low: 2, High: 2},
		{Name: "steps", Kind: space.Real, Low: 0.5, High: 64, Step: 0.5, Log: true},
		{Name: "thirds", Kind: space.Normal, Mean: 10, SD: 0.1, Step: 1.0 / 3},
		{Name: "sevens", Kind: space.Int, Low: -20, High: 20, Step: 7},
		{Name: "least", Kind: space.Real, Low: math.SmallestNonzeroFloat64, High: 1, Log: true},
	}},
	"small": {Params: []space.Param{
		{Name: "a", Kind: space.Choice, Choices: choices(`"x"`, `"y"`, `"z"`)},
		{Name: "b", Kind: space.Int, Low: 1, High: 4, When: is(0, 0, 2)},
		{Name: "c", Kind: space.Real, Low: 0, High: 1, Step: 0.25,
			When: expr(space.Ge, number(1), &space.Expr{Op: space.Const, Number: 3})},
	}, Constraints: []*space.Expr{expr(space.Not, expr(space.And, is(0, 2), expr(space.Eq, number(1), number(2))))}},
	"tight": {Params: []space.Param{
		{Name: "a", Kind: space.Int, Low: 0, High: 9}, {Name: "b", Kind: space.Int, Low: 0, High: 9},
	}, Constraints: []*space.Expr{expr(space.Eq, number(0), number(1))}},
}

func describe(t *testing.T, name string, s *space.Space) spaceVectors {
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	v := spaceVectors{Name: name, Open: opening(t, s)}
	for i := range s.Params {
		rows := []point{}
		for _, u := range []float64{0, 1e-17, 0.001, 0.1, 1.0 / 3, 0.5, 0.7, 0.9, 0.999999, 1 - 1e-16, 1} {
			x := s.FromUnit(i, u)
			rows = append(rows, point{u, x, s.ToUnit(i, x)})
		}
		v.Units = append(v.Units, rows)
	}
	if size, ok := s.Size(1000); ok {
		v.Size = &size
		for p := range s.All() {
			v.Left = append(v.Left, point(p))
		}
	}
	rng := space.NewRand(5)
	with := &space.Space{Params: s.Params}
	for range 100 {
		with.Constraints = append(with.Constraints, expression(rng, s, 3))
	}
	v.Exprs = opening(t, with)
	v.sample(t, s, with.Constraints, rng)
	return v
}

func opening(t *testing.T, s *space.Space) string {
	m, err := proto.Marshal(&pb.OpenSearcherRequest{Problem: wire.ProblemToProto(sdk.Problem{Space: s})})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(m)
}

// sample adds points of the space and some outside it.
func (v *spaceVectors) sample(t *testing.T, s *space.Space, exprs []*space.Expr, rng *rand.Rand) {
	for seed := range uint64(20) {
		p, err := s.Sample(space.NewRand(seed))
		if err != nil {
			t.Fatal(err)
		}
		v.Samples = append(v.Samples, point(p))
		other := append(space.Point{}, p...)
		for range seed % 3 {
			other[rng.IntN(len(other))] = []float64{math.NaN(), 0, 1, 2.5, -7}[rng.IntN(5)]
		}
		pruned := append(space.Point{}, other...)
		s.Prune(pruned)
		fate := pointFate{Point: point(other), Holds: s.Holds(other), Pruned: point(pruned)}
		if err := s.Check(other); err != nil {
			fate.Check = err.Error()
		}
		for _, e := range exprs {
			fate.Values = append(fate.Values, e.Eval(s, other))
		}
		v.Points = append(v.Points, fate)
	}
}

// expression returns a random expression with all operations.
func expression(rng *rand.Rand, s *space.Space, depth int) *space.Expr {
	op := space.Op(rng.IntN(int(space.If)) + 1)
	if depth == 0 {
		op = space.Op(rng.IntN(2) + 1)
	}
	i := rng.IntN(len(s.Params))
	if op == space.In && s.Params[i].Choices == nil {
		op = space.Number
	}
	args := 2
	switch op {
	case space.Const:
		return &space.Expr{Op: op, Number: float64(rng.IntN(9)-4) / 2}
	case space.Number:
		return number(i)
	case space.In:
		return is(i, 0, len(s.Params[i].Choices)-1)
	case space.Neg, space.Not:
		args = 1
	case space.And, space.Or:
		args = 1 + rng.IntN(3)
	case space.If:
		args = 3
	}
	e := &space.Expr{Op: op}
	for range args {
		e.Args = append(e.Args, expression(rng, s, depth-1))
	}
	return e
}
