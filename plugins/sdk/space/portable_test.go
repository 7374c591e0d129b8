package space

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func near(t *rapid.T, what string, x, got, want float64) {
	if math.Abs(got-want) > 1e-14*math.Abs(want)+1e-15 {
		t.Fatalf("%s(%v) is %v, want %v", what, x, got, want)
	}
}

// logOf is math.Log with a correction: on some machines it is wrong for numbers below 1e-308.
func logOf(x float64) float64 {
	if x < 1e-300 {
		return math.Log(x*0x1p100) - 100*math.Ln2
	}
	return math.Log(x)
}

func TestPortableFunctionsAgainstMath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Exp(rapid.Float64Range(-740, 709).Draw(t, "x"))
		near(t, "ln", x, ln(x), logOf(x))
		y := rapid.Float64Range(-708, 709).Draw(t, "y")
		near(t, "exp", y, exp(y)/math.Exp(y), 1)
		u := rapid.Float64Range(1e-9, 1-1e-9).Draw(t, "u")
		near(t, "distribution of quantile", u, 0.5*math.Erfc(-quantile(u)/math.Sqrt2), u)
	})
}

func TestPortableAtTheEdges(t *testing.T) {
	for _, x := range []float64{math.SmallestNonzeroFloat64, math.MaxFloat64, 1, 1 - 0x1p-53, 1 + 0x1p-52,
		math.Sqrt2 / 2} {
		if got, want := ln(x), logOf(x); math.Abs(got-want) > 3e-16*math.Abs(want) {
			t.Errorf("ln(%v) is %v, want %v", x, got, want)
		}
	}
	if exp(0) != 1 || exp(-800) != 0 || exp(ln(math.SmallestNonzeroFloat64)) != math.SmallestNonzeroFloat64 ||
		quantile(0.5) != 0 {
		t.Errorf("%v %v %v %v", exp(0), exp(-800), exp(ln(math.SmallestNonzeroFloat64)), quantile(0.5))
	}
	if far := quantile(0x1p-54); math.Abs(far+8.29236) > 1e-4 {
		t.Errorf("the farthest quantile is %v", far)
	}
}

// B-102: these bits are the same on every machine and must never change.
func TestSampledBits(t *testing.T) {
	s := mustValidate(t, mixed())
	text, err := s.Decode(mustSample(t, s, 42))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"lr":0.2147305215850701,"momentum":0.5134695950972695,"dropout":0.0,"units":658,"layers":3,` +
		`"batch":352,"noise":1.3404153985457423,"shift":10.5,"optimizer":{"name":"sgd","size":2}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// mixed is ten parameters of all forms.
func mixed() *Space {
	return &Space{Params: []Param{
		{Name: "lr", Kind: Real, Low: 1e-5, High: 1, Log: true},
		{Name: "momentum", Kind: Real, Low: 0, High: 0.99},
		{Name: "dropout", Kind: Real, Low: 0, High: 0.5, Step: 0.1},
		{Name: "units", Kind: Int, Low: 16, High: 1024, Log: true},
		{Name: "layers", Kind: Int, Low: 1, High: 8},
		{Name: "batch", Kind: Int, Low: 32, High: 512, Step: 32},
		{Name: "noise", Kind: Normal, Mean: 0, SD: 1},
		{Name: "shift", Kind: Normal, Mean: 10, SD: 3, Step: 0.5},
		{Name: "optimizer/name", Kind: Choice, Choices: raws(`"sgd"`, `"adam"`, `"rmsprop"`)},
		{Name: "optimizer/size", Kind: Ordinal, Choices: raws("1", "2", "4")},
	}}
}

func BenchmarkSample(b *testing.B) {
	s := mustValidate(b, mixed())
	for i := 0; b.Loop(); i++ {
		mustSample(b, s, uint64(i))
	}
}

func BenchmarkCheck(b *testing.B) {
	s := mustValidate(b, mixed())
	p := mustSample(b, s, 1)
	for b.Loop() {
		if err := s.Check(p); err != nil {
			b.Fatal(err)
		}
	}
}
