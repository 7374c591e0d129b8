package jsontext

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// B-015
func TestNumbersThatAreNone(t *testing.T) {
	for x, want := range map[float64]string{math.Inf(1): `"Infinity"`, math.Inf(-1): `"-Infinity"`} {
		if got := string(AppendFloat(nil, x)); got != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
	if got := string(AppendFloat(nil, math.NaN())); got != `"NaN"` {
		t.Errorf("NaN is %s", got)
	}
}

func TestNumbersAsPeopleWriteThem(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{{0, "0"}, {math.Copysign(0, -1), "-0"}, {1e6, "1000000"}, {0.25, "0.25"}, {-3, "-3"}, {1e-7, "1e-07"},
		{0.00001, "0.00001"}, {1e22, "1e+22"}, {123456.5, "123456.5"}} {
		if got := string(AppendFloat(nil, c.x)); got != c.want {
			t.Errorf("%v is %s, want %s", c.x, got, c.want)
		}
	}
}

func TestFloatsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		if math.IsInf(x, 0) {
			return
		}
		var back float64
		if err := json.Unmarshal(AppendFloat(nil, x), &back); err != nil ||
			math.Float64bits(back) != math.Float64bits(x) {
			t.Fatalf("%v became %v: %v", x, back, err)
		}
	})
}

// What remembers texts gives the same ones, whether it has seen a number or another in its place.
func TestRememberedNumbersAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n Numbers
		some := rapid.SliceOfN(rapid.Float64(), 1, 40).Draw(t, "numbers")
		some = append(some, math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), -1.2345678901234567e-6)
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(some)-1), 1, 200).Draw(t, "order") {
			x := some[i]
			if got, want := n.AppendNumber(nil, x), AppendNumber(nil, x); string(got) != string(want) {
				t.Fatalf("%v is %s, want %s", x, got, want)
			}
			if got, want := n.AppendFloat(nil, x), AppendFloat(nil, x); string(got) != string(want) {
				t.Fatalf("%v is %s, want %s", x, got, want)
			}
		}
	})
}

func TestStringsComeBackOnOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		text := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(text, &back); err != nil || back != s {
			t.Fatalf("%q became %q by %s: %v", s, back, text, err)
		}
		if strings.ContainsAny(string(text), "\n\r\u0085\u2028\u2029") {
			t.Fatalf("%q is more than one line", text)
		}
	})
}

func TestWhatIsNotUTF8IsReplaced(t *testing.T) {
	text := AppendString(nil, "a\xffb")
	var back string
	if err := json.Unmarshal(text, &back); err != nil || back != "a\ufffdb" || !utf8.Valid(text) {
		t.Fatalf("%s, %v", text, err)
	}
}
