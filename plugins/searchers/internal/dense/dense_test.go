package dense

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// definite returns a random positive definite matrix.
func definite(n int, seed uint64) Matrix {
	rng, m := space.NewRand(seed), New(n, n)
	roots := New(n, n)
	for i := range roots {
		for j := range roots {
			roots[i][j] = rng.Float64() - 0.5
		}
	}
	for i := range m {
		for j := range m {
			m[i][j] = Dot(roots[i], roots[j])
		}
		m[i][i] += 0.1
	}
	return m
}

func clone(m Matrix) Matrix {
	c := New(len(m), len(m))
	for i := range m {
		copy(c[i], m[i])
	}
	return c
}

// dense returns m for gonum, mirrored at the diagonal if symmetric.
func dense(m Matrix, symmetric bool) *mat.Dense {
	d := mat.NewDense(len(m), len(m), nil)
	for i := range m {
		for j := range i + 1 {
			d.Set(i, j, m[i][j])
			if symmetric {
				d.Set(j, i, m[i][j])
			}
		}
	}
	return d
}

func near(t *testing.T, what string, got, want mat.Matrix) {
	t.Helper()
	if !mat.EqualApprox(got, want, 1e-9) {
		t.Errorf("%s:\n%v, want\n%v", what, mat.Formatted(got), mat.Formatted(want))
	}
}

// Compares with gonum.
func TestAgainstGonum(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 20, 41} {
		a := definite(n, uint64(n))
		l, w, g := clone(a), New(n, n), New(n, n)
		if !Cholesky(l, 0) {
			t.Fatal("not positive definite")
		}
		Invert(w, l, 0)
		Gram(g, w)
		var product, inverse mat.Dense
		product.Mul(dense(l, false), dense(l, false).T())
		near(t, "l·lᵀ", &product, dense(a, true))
		if err := inverse.Inverse(dense(a, true)); err != nil {
			t.Fatal(err)
		}
		near(t, "the inverse", dense(g, true), &inverse)
	}
}

func TestSolve(t *testing.T) {
	l := definite(9, 4)
	Cholesky(l, 0)
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	b := Times(l, x)
	Solve(l, b)
	near(t, "Solve", mat.NewVecDense(9, b), mat.NewVecDense(9, x))
	var product mat.VecDense
	product.MulVec(dense(l, false).T(), mat.NewVecDense(9, x))
	b = product.RawVector().Data
	SolveTransposed(l, b)
	near(t, "SolveTransposed", mat.NewVecDense(9, b), mat.NewVecDense(9, x))
}

func TestNotDefinite(t *testing.T) {
	for _, a := range []Matrix{{{-1}}, {{1, 0}, {2, 1}}, {{math.NaN()}}, {{math.Inf(1)}}} {
		if Cholesky(a, 0) {
			t.Errorf("%v has a root", a)
		}
	}
}

// A sum has one order for every length.
func TestDot(t *testing.T) {
	a, sum := make([]float64, 0, 11), 0.0
	for i := range 11 {
		if a = append(a, float64(i+1)); Dot(a, a) != sum+a[i]*a[i] {
			t.Errorf("%d: %v", i+1, Dot(a, a))
		}
		sum += a[i] * a[i]
	}
	big := []float64{1e16, 1, -1e16, 1}
	if got := Dot(big, []float64{1, 1, 1, 1}); got != 0 { // from left to right it would be 1
		t.Error(got)
	}
}

// Rows that are added four at a time give the same bits as one after the other.
func TestAddRows(t *testing.T) {
	for n := range 20 {
		w, x := definite(n+1, uint64(n)), definite(n+1, 7)[n]
		got, want := make([]float64, n+1), make([]float64, n+1)
		AddRows(got, x[:n], w)
		for k := range n {
			Add(want, x[k], w[k][:k+1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d rows: %v, want %v", n, got, want)
		}
	}
}

// Each element of a product is a sum in the order of rows.
func TestGramBits(t *testing.T) {
	for n := range 20 {
		w, g := definite(n, uint64(n)), New(n, n)
		Gram(g, w)
		for i := range n {
			for j := range i + 1 {
				want := 0.0
				for k := i; k < n; k++ {
					want += float64(w[k][i] * w[k][j])
				}
				if g[i][j] != want {
					t.Errorf("%d rows, at %d, %d: %v, want %v", n, i, j, g[i][j], want)
				}
			}
		}
	}
}

func BenchmarkCholesky(b *testing.B) {
	a, l := definite(200, 1), New(200, 200)
	for b.Loop() {
		for i := range a {
			copy(l[i], a[i])
		}
		Cholesky(l, 0)
	}
}

func BenchmarkInvert(b *testing.B) {
	l, w := definite(200, 1), New(200, 200)
	Cholesky(l, 0)
	for b.Loop() {
		Invert(w, l, 0)
	}
}

func BenchmarkGram(b *testing.B) {
	w, g := definite(200, 1), New(200, 200)
	for b.Loop() {
		Gram(g, w)
	}
}

// numbers returns n random numbers of very different sizes, so that each order of a sum has other bits.
func numbers(n int, rng space.Source) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = (rng.Float64() - 0.5) * math.Ldexp(1, int(rng.Float64()*60)-30)
	}
	return x
}

// Instructions for four numbers at a time give the same bits as those for one.
func TestKernels(t *testing.T) {
	rng := space.NewRand(3)
	for n := range 70 {
		rows := Matrix{numbers(n+1, rng), numbers(n+2, rng), numbers(n+3, rng), numbers(n+4, rng)}
		x, xs := numbers(n, rng), numbers(4, rng)
		whole := x[:n&^3]
		var sums, slow [4]lanes
		fourSums(&sums, whole, rows)
		if slowFourSums(&slow, whole, rows); sums != slow {
			t.Errorf("%d numbers: sums %v, want %v", n, sums, slow)
		}
		want := slices.Clone(x)
		slowAddFour(want, xs, rows)
		if addFour(x, xs, rows); !slices.Equal(x, want) {
			t.Errorf("%d numbers: %v, want %v", n, x, want)
		}
	}
}

// Two rows at a time have the bits of one after the other, and many divisions those of one.
func TestPairs(t *testing.T) {
	rng := space.NewRand(8)
	for n := range 70 {
		rows := Matrix{numbers(n+1, rng), numbers(n+2, rng), numbers(n+3, rng), numbers(n+4, rng)}
		b, c, xs, ys := numbers(n, rng), numbers(n, rng), numbers(4, rng), numbers(4, rng)
		first, second := slices.Clone(b), slices.Clone(c)
		slowAddFour(first, xs, rows)
		slowAddFour(second, ys, rows)
		if addFourToPair(b, c, xs, ys, rows); !slices.Equal(b, first) || !slices.Equal(c, second) {
			t.Errorf("%d numbers: %v and %v, want %v and %v", n, b, c, first, second)
		}
		slowDivide(first, xs[0])
		if divideAll(b, xs[0]); !slices.Equal(b, first) {
			t.Errorf("%d numbers divided: %v, want %v", n, b, first)
		}
	}
}

// Rows of an inverse that are computed together have the same bits as those of one at a time.
func TestInvertBits(t *testing.T) {
	for n := range 40 {
		l, got := definite(n, uint64(n)), New(n, n)
		if Cholesky(l, 0); n == 0 {
			continue
		}
		Invert(got, l, 0)
		for i := range l {
			want := make([]float64, i+1)
			for k := range i {
				Add(want, l[i][k], got[k][:k+1])
			}
			for j := range i {
				want[j] = -want[j] / l[i][i]
			}
			if want[i] = 1 / l[i][i]; !slices.Equal(got[i][:i+1], want) {
				t.Fatalf("%d rows, row %d: %v, want %v", n, i, got[i][:i+1], want)
			}
		}
	}
}

// Dot products with many rows have the bits of those with one.
func TestDots(t *testing.T) {
	rng := space.NewRand(6)
	for n := range 14 {
		x, rows := numbers(n, rng), Matrix{}
		for i := range n % 5 {
			rows = append(rows, numbers(n+i, rng))
		}
		got := make([]float64, len(rows))
		Dots(got, x, rows)
		for i, row := range rows {
			if want := Dot(x, row); got[i] != want {
				t.Errorf("%d numbers, row %d: %v, want %v", n, i, got[i], want)
			}
		}
	}
}

// Rows of all lengths are added like one after the other.
func TestAddAll(t *testing.T) {
	rng := space.NewRand(7)
	for n := range 14 {
		got, rows := numbers(n%6, rng), Matrix{}
		for range n {
			rows = append(rows, numbers(n+1, rng))
		}
		xs, want := numbers(n, rng), slices.Clone(got)
		AddAll(got, xs, rows)
		for i, x := range xs {
			Add(want, x, rows[i][:len(want)])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d rows: %v, want %v", n, got, want)
		}
	}
}

// Sums by features have the same bits as one after the other, with NaN among the centres, too.
func TestColumns(t *testing.T) {
	rng := space.NewRand(4)
	for n := range 40 {
		centres, scales, x := numbers(n, rng), numbers(n, rng), rng.Float64()
		for i := range centres {
			switch i % 5 {
			case 1:
				centres[i] = x
			case 3:
				centres[i] = math.NaN()
			}
		}
		for name, f := range map[string][2]func(sums []float64){
			"AddSquares": {func(sums []float64) { AddSquares(sums, x, scales) },
				func(sums []float64) { slowAddSquares(sums, x, scales) }},
			"SubSquares": {func(sums []float64) { SubSquares(sums, x, scales, scales) },
				func(sums []float64) { slowSubSquares(sums, x, scales, scales) }},
			"AddWhere equal": {func(sums []float64) { AddWhere(sums, x, centres, true, 0.7) },
				func(sums []float64) { slowAddWhere(sums, x, centres, true, 0.7) }},
			"AddWhere another": {func(sums []float64) { AddWhere(sums, x, centres, false, 0.7) },
				func(sums []float64) { slowAddWhere(sums, x, centres, false, 0.7) }},
		} {
			got := numbers(n, rng)
			want := slices.Clone(got)
			f[0](got)
			if f[1](want); !slices.Equal(got, want) {
				t.Errorf("%s, %d numbers: %v, want %v", name, n, got, want)
			}
		}
	}
}

// The sums by features are what their names say.
func TestColumnsAsDefined(t *testing.T) {
	centres := []float64{1, 2, math.NaN(), 2, 7}
	sums := make([]float64, len(centres))
	AddWhere(sums, 2, centres, true, 10)
	AddWhere(sums, 2, centres, false, 1)
	if want := []float64{1, 10, 1, 10, 1}; !slices.Equal(sums, want) {
		t.Errorf("AddWhere: %v, want %v", sums, want)
	}
	clear(sums)
	centres[2] = 3
	AddSquares(sums, 4, centres)
	if want := []float64{9, 4, 1, 4, 9}; !slices.Equal(sums, want) {
		t.Errorf("AddSquares: %v, want %v", sums, want)
	}
	SubSquares(sums, 3, centres, []float64{2, 2, 2, 2, 3})
	if want := []float64{-7, 0, 1, 0, -135}; !slices.Equal(sums, want) {
		t.Errorf("SubSquares: %v, want %v", sums, want)
	}
}

// Four products at a time give the same bits as one after the other.
func TestTimesBits(t *testing.T) {
	rng := space.NewRand(5)
	for n := range 30 {
		l, x := New(n, n), numbers(n, rng)
		for i := range l {
			copy(l[i], numbers(i+1, rng))
		}
		for i, y := range Times(l, x) {
			if want := Dot(l[i][:i+1], x); y != want {
				t.Errorf("%d rows, row %d: %v, want %v", n, i, y, want)
			}
		}
	}
}

// Rows of a root that are computed four numbers at a time have the same bits as those of one at a time.
func TestCholeskyBits(t *testing.T) {
	for n := range 50 {
		got := definite(n, uint64(n))
		want := clone(got)
		if Cholesky(got, 0); n == 0 {
			continue
		}
		for i, row := range want {
			for j := range i {
				row[j] = (row[j] - Dot(row[:j], want[j])) / want[j][j]
			}
			row[i] = math.Sqrt(row[i] - Dot(row[:i], row))
			if !slices.Equal(got[i][:i+1], row[:i+1]) {
				t.Fatalf("%d rows, row %d: %v, want %v", n, i, got[i][:i+1], row[:i+1])
			}
		}
	}
}

func BenchmarkTimes(b *testing.B) {
	l, x, y := definite(200, 1), definite(200, 2)[0], make([]float64, 200)
	for b.Loop() {
		TimesInto(y, l, x, 0)
	}
}
