package js_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/vectors.json anew")

// vectors are answers of the Go package that other languages must reproduce. NaN is null in points;
// 64-bit integers are strings.
type vectors struct {
	Random []randomVector `json:"random"`
	Spaces []spaceVector  `json:"spaces"`
}

type randomVector struct {
	Seed   string   `json:"seed"`
	Uint64 []string `json:"uint64"`
}

type spaceVector struct {
	Name        string        `json:"name"`
	Params      []paramVector `json:"params"`
	Constraints []*exprVector `json:"constraints"`
	Size        *int          `json:"size"` // null when above 1000
	All         []point       `json:"all"`  // when Size is not null
	Samples     []point       `json:"samples"`
	Units       []unitVector  `json:"units"`
	Checks      []checkVector `json:"checks"`
	Exprs       []evalVector  `json:"exprs"`
}

type paramVector struct {
	Name    string            `json:"name"`
	Kind    string            `json:"kind"`
	Low     float64           `json:"low"`
	High    float64           `json:"high"`
	Log     bool              `json:"log"`
	Step    float64           `json:"step"`
	Mean    float64           `json:"mean"`
	SD      float64           `json:"sd"`
	Choices []json.RawMessage `json:"choices"`
	When    *exprVector       `json:"when"`
}

type exprVector struct {
	Op     space.Op      `json:"op"`
	Param  int           `json:"param,omitempty"`
	Number float64       `json:"number,omitempty"`
	Set    []int         `json:"set,omitempty"`
	Args   []*exprVector `json:"args,omitempty"`
}

// unitVector: parameter I has Value at U; Back is the place of Value.
type unitVector struct {
	I     int     `json:"i"`
	U     float64 `json:"u"`
	Value float64 `json:"value"`
	Back  float64 `json:"back"`
}

type checkVector struct {
	Point  point `json:"point"`
	Good   bool  `json:"good"`
	Holds  bool  `json:"holds"`
	Pruned point `json:"pruned"`
}

type evalVector struct {
	Expr  *exprVector `json:"expr"`
	Point point       `json:"point"`
	Value *float64    `json:"value"`
}

// point writes NaN as null.
type point []float64

func (p point) MarshalJSON() ([]byte, error) {
	values := make([]*float64, len(p))
	for i := range p {
		values[i] = known(p[i])
	}
	return json.Marshal(values)
}

func known(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

var kinds = map[space.Kind]string{space.Real: "real", space.Int: "int", space.Normal: "normal", space.Choice: "choice",
	space.Ordinal: "ordinal"}

// TestVectors compares testdata/vectors.json with the Go package.
func TestVectors(t *testing.T) {
	v := vectors{Spaces: []spaceVector{describe("wide", wide()), describe("small", small()), describe("odd", odd()),
		describe("tight", tight())}}
	for _, seed := range []uint64{0, 1, 1 << 63, math.MaxUint64} {
		r, one := space.NewRand(seed), randomVector{Seed: strconv.FormatUint(seed, 10)}
		for range 4 {
			one.Uint64 = append(one.Uint64, strconv.FormatUint(r.Uint64(), 10))
		}
		v.Random = append(v.Random, one)
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
		t.Errorf("%s is not what the Go package answers (%v): go test ./plugins/sdk/js -run Vectors -rewrite", file,
			err)
	}
}

// odd has bounds and steps that are error-prone.
func odd() *space.Space {
	return &space.Space{Params: []space.Param{
		{Name: "tenths", Kind: space.Real, Low: -0.3, High: 0.75, Step: 0.1},
		{Name: "tiny", Kind: space.Real, Low: 1e-300, High: 1e300, Log: true},
		{Name: "far", Kind: space.Int, Low: -(1 << 53), High: 1 << 53},
		{Name: "same", Kind: space.Real, Low: 2, High: 2},
		{Name: "steps", Kind: space.Real, Low: 0.5, High: 64, Step: 0.5, Log: true},
		{Name: "thirds", Kind: space.Normal, Mean: 10, SD: 0.1, Step: 1.0 / 3},
		{Name: "sevens", Kind: space.Int, Low: -20, High: 20, Step: 7},
	}}
}

// tight is finite, and a constraint leaves 10 of its 100 points.
func tight() *space.Space {
	number := func(i int) *space.Expr { return &space.Expr{Op: space.Number, Param: i} }
	return &space.Space{
		Params: []space.Param{{Name: "a", Kind: space.Int, Low: 0, High: 9},
			{Name: "b", Kind: space.Int, Low: 0, High: 9}},
		Constraints: []*space.Expr{{Op: space.Eq, Args: []*space.Expr{number(0), number(1)}}},
	}
}

func describe(name string, s *space.Space) spaceVector {
	v := spaceVector{Name: name}
	for i := range s.Params {
		p := &s.Params[i]
		v.Params = append(v.Params, paramVector{p.Name, kinds[p.Kind], p.Low, p.High, p.Log, p.Step, p.Mean, p.SD,
			raw(p.Choices), written(p.When)})
		for _, u := range []float64{0, 1e-17, 0.001, 0.1, 1.0 / 3, 0.5, 0.7, 0.9, 0.999999, 1 - 1e-16, 1} {
			x := s.FromUnit(i, u)
			v.Units = append(v.Units, unitVector{i, u, x, s.ToUnit(i, x)})
		}
	}
	for _, e := range s.Constraints {
		v.Constraints = append(v.Constraints, written(e))
	}
	if size, ok := s.Size(1000); ok {
		v.Size = &size
		for p := range s.All() {
			v.All = append(v.All, point(p))
		}
	}
	v.sample(s)
	return v
}

// sample adds points of the space and some outside it.
func (v *spaceVector) sample(s *space.Space) {
	rng := space.NewRand(5)
	for seed := range uint64(20) {
		p, err := s.Sample(space.NewRand(seed))
		if err != nil {
			panic(err)
		}
		v.Samples = append(v.Samples, point(p))
		other := append(space.Point{}, p...)
		for range seed % 3 {
			i := rng.IntN(len(other))
			other[i] = []float64{math.NaN(), 0, 1, 2.5, -7}[rng.IntN(5)]
		}
		pruned := append(space.Point{}, other...)
		s.Prune(pruned)
		v.Checks = append(v.Checks, checkVector{point(other), s.Check(other) == nil, s.Holds(other), point(pruned)})
		for range 5 {
			e := expression(rng, s, 3)
			v.Exprs = append(v.Exprs, evalVector{written(e), point(other), known(e.Eval(s, other))})
		}
	}
}

// expression returns a random expression with all operations.
func expression(rng *rand.Rand, s *space.Space, depth int) *space.Expr {
	op := space.Op(rng.IntN(int(space.If)) + 1)
	if depth == 0 {
		op = space.Op(rng.IntN(2) + 1)
	}
	e := &space.Expr{Op: op}
	args := 2
	switch op {
	case space.Const:
		e.Number, args = float64(rng.IntN(9)-4)/2, 0
	case space.Number:
		e.Param, args = rng.IntN(len(s.Params)), 0
	case space.In:
		e.Param, e.Set, args = rng.IntN(len(s.Params)), []int{0, rng.IntN(3)}, 0
	case space.Neg, space.Not:
		args = 1
	case space.And, space.Or:
		args = 1 + rng.IntN(3)
	case space.If:
		args = 3
	}
	for range args {
		e.Args = append(e.Args, expression(rng, s, depth-1))
	}
	return e
}

func written(e *space.Expr) *exprVector {
	if e == nil {
		return nil
	}
	w := &exprVector{Op: e.Op, Param: e.Param, Number: e.Number, Set: e.Set}
	for _, a := range e.Args {
		w.Args = append(w.Args, written(a))
	}
	return w
}

func raw(choices [][]byte) (list []json.RawMessage) {
	for _, c := range choices {
		list = append(list, c)
	}
	return list
}
