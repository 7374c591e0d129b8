package resource

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"
)

func amount(t testing.TB, text string) Amount {
	t.Helper()
	a, err := ParseAmount(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// B-030
func TestThirdsLeaveExactlyNothing(t *testing.T) {
	left := amount(t, "0.99")
	for range 3 {
		left = left.Sub(amount(t, "0.33"))
	}
	if !left.IsZero() {
		t.Fatalf("0.99 - 3 × 0.33 = %v", left)
	}
}

// B-030
func TestBelowZeroPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("0.5 - 0.500001 did not panic")
		}
	}()
	amount(t, "0.5").Sub(amount(t, "0.500001"))
}

func TestParseAmount(t *testing.T) {
	for _, c := range []struct{ text, plain, bytes string }{
		{"0", "0", "0"},
		{"0e999", "0", "0"},
		{"1", "1", "1"},
		{"007", "7", "7"},
		{".5", "0.5", "0.5"},
		{"2.", "2", "2"},
		{"0.33", "0.33", "0.33"},
		{"0.3300000000", "0.33", "0.33"},
		{"0.000001", "0.000001", "0.000001"},
		{"1e3", "1000", "1kB"},
		{"1.5e-6M", "1.5", "1.5"},
		{"10k", "10000", "10kB"},
		{"4GiB", "4294967296", "4GiB"},
		{"4 GiB", "4294967296", "4GiB"},
		{"512MiB", "536870912", "512MiB"},
		{"1536MiB", "1610612736", "1.5GiB"},
		{"1GB", "1000000000", "1GB"},
		{"4294967297", "4294967297", "4294967297"},
		{"0.1GiB", "107374182.4", "102.4MiB"},
		{"1PiB", "1125899906842624", "1PiB"},
		{"1125899906842623.999999", "1125899906842623.999999", "1125899906842623.999999"},
		{"1024PiB", "1152921504606846976", "1024PiB"},
	} {
		a, err := ParseAmount(c.text)
		if err != nil {
			t.Error(err)
			continue
		}
		if a.String() != c.plain {
			t.Errorf("%s is %s, want %s", c.text, a, c.plain)
		}
		if b := a.Bytes(); b != c.bytes {
			t.Errorf("%s in bytes is %s, want %s", c.text, b, c.bytes)
		}
	}
}

func TestParseAmountRefuses(t *testing.T) {
	for text, want := range map[string]error{
		"": ErrNotANumber, ".": ErrNotANumber, "NaN": ErrNotANumber, "inf": ErrNotANumber, "-inf": ErrNotANumber,
		"1_000": ErrNotANumber, "0x10": ErrNotANumber, "1.2.3": ErrNotANumber,
		"1e": ErrNotANumber, "1GIB": ErrNotANumber,
		" 1": ErrNotANumber, "1 ": ErrNotANumber, "+1": ErrNotANumber, "-": ErrNotANumber, "500m": ErrNotANumber,
		"1e1000": ErrNotANumber,
		"-1":     ErrNegative, "-0.5": ErrNegative,
		"0.0000001": ErrTooFine, "1e-7": ErrTooFine, "0.333333333GiB": ErrTooFine,
		"1152921504606846976.000001": ErrTooBig, "1e19": ErrTooBig, "1025PiB": ErrTooBig, "1e999": ErrTooBig,
		strings.Repeat("9", 60): ErrTooLong,
	} {
		a, err := ParseAmount(text)
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, %v; want %v", text, a, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than one line: %v", text, err)
		}
	}
}

func FuzzParseAmount(f *testing.F) {
	for _, s := range []string{"0.33", "1e3", "4GiB", "-1", "340282366920938463463374607431768211459"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAmount(text)
		if err != nil {
			return
		}
		for _, again := range []string{a.String(), a.Bytes()} {
			if b, err := ParseAmount(again); err != nil || b != a {
				t.Fatalf("%q is %v, written %q, read %v %v", text, a, again, b, err)
			}
		}
	})
}

func toBig(a Amount) *big.Int {
	n := new(big.Int).SetUint64(a.hi)
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(a.lo))
}

var amounts = rapid.Custom(func(t *rapid.T) Amount {
	bits := rapid.IntRange(0, 80).Draw(t, "bits")
	a := Amount{rapid.Uint64().Draw(t, "hi"), rapid.Uint64().Draw(t, "lo")}
	return a.shr(uint(127 - bits)) // every magnitude up to the largest amount
})

// Compares with math/big. B-030
func TestArithmeticIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := amounts.Draw(t, "a"), amounts.Draw(t, "b")
		x, y := toBig(a), toBig(b)
		if a.Cmp(b) != x.Cmp(y) || a.less(b) != (x.Cmp(y) < 0) {
			t.Fatal("order")
		}
		if sum := toBig(a.Add(b)); sum.Cmp(new(big.Int).Add(x, y)) != 0 {
			t.Fatal("sum")
		}
		if a.less(b) {
			a, b, x, y = b, a, y, x
		}
		if diff := toBig(a.Sub(b)); diff.Cmp(new(big.Int).Sub(x, y)) != 0 {
			t.Fatal("difference")
		}
		if b.IsZero() {
			return
		}
		q := new(big.Int).Div(x, y)
		if got := b.goesInto(a); q.IsUint64() && got != q.Uint64() || !q.IsUint64() && got != ^uint64(0) {
			t.Fatalf("%v / %v is %v, got %v", x, y, q, got)
		}
	})
}

// The leading bits give 3, the last bit gives 2.
func TestDivisionCorrectsItsEstimate(t *testing.T) {
	if q := (Amount{1, 1}).goesInto(Amount{3, 2}); q != 2 {
		t.Fatal(q)
	}
}

// B-039
func TestAmountsSurviveWriting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := amounts.Draw(t, "a")
		if Whole(MaxWhole).less(a) {
			a = Whole(MaxWhole)
		}
		for _, c := range codecs {
			text, err := c.marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			var b Amount
			if err := c.unmarshal(text, &b); err != nil || a != b {
				t.Fatalf("%s: %v was written %s and read %v %v", c.name, a, text, b, err)
			}
		}
	})
}

type codec struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}

var codecs = []codec{
	{"json", json.Marshal, json.Unmarshal},
	{"yaml", yaml.Marshal, func(b []byte, v any) error { return yaml.Unmarshal(b, v) }},
}

func TestAmountsFromFiles(t *testing.T) {
	type file struct{ CPU, GPU, Memory Amount }
	want := file{amount(t, "2"), amount(t, "0.33"), amount(t, "4GiB")}
	for text, read := range map[string]func([]byte, any) error{
		`{"CPU": 2, "GPU": 0.33, "Memory": "4GiB"}`: codecs[0].unmarshal,
		"cpu: 2\ngpu: 0.33\nmemory: 4GiB\n":         codecs[1].unmarshal,
	} {
		var got file
		if err := read([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
}
