package resource

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func bundle(t testing.TB, text string) Bundle {
	t.Helper()
	b, err := ParseBundle(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func request(t testing.TB, text string) Request {
	t.Helper()
	r, err := ParseRequest(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBundleIsSortedWithoutZeros(t *testing.T) {
	b := bundle(t, "memory=1GiB, gpu=0.5,cpu=1,disk=0")
	if b.String() != "cpu 1, gpu 0.5, memory 1GiB" {
		t.Fatal(b)
	}
	if got := b.Get("gpu"); got != amount(t, "0.5") {
		t.Fatal(got)
	}
	if !b.Get("tpu").IsZero() {
		t.Fatal("tpu")
	}
}

func TestBadRequestsAreOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"gpu=1.5":                          "ask for 1 or 2", // B-031
		"cpu":                              "NAME=AMOUNT",
		"":                                 "NAME=AMOUNT",
		"cpu=":                             "not a number",
		"cpu=-1":                           "negative",
		"cpu=NaN":                          "not a number",
		"cpu=0.0000001":                    "0.000001",
		"cpu=1,cpu=2":                      "given twice",
		"=1":                               "needs a name",
		"1a=1":                             "write a letter",
		"a\nb=1":                           `"a\nb"`,
		strings.Repeat("n", 65) + "=1":     "longer than 64",
		"pack(cpu=1":                       "closing )",
		"tight(cpu=1)":                     "use pack, spread, strict_pack, strict_spread",
		strings.Repeat("a=1;", 2000) + "a": "at most 1024",
	} {
		_, err := ParseRequest(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.20q: %v; want %q", text, err, want)
		}
	}
	if _, err := NewRequest(Pack); err == nil {
		t.Error("a request without bundles")
	}
	if _, err := NewRequest(9, Bundle{}); err == nil {
		t.Error("an unknown strategy")
	}
}

func TestRequestForMessages(t *testing.T) {
	for text, want := range map[string]string{
		"none":                             "nothing",
		"cpu=1,gpu=0.5":                    "cpu 1, gpu 0.5",
		"spread(cpu=1;gpu=1;gpu=1;gpu=1)":  "spread of (cpu 1) + 3 × (gpu 1)",
		"strict_pack(memory=1024;none)":    "strict_pack of (memory 1KiB) + (nothing)",
		"strict_spread(cpu=1;gpu=1;cpu=1)": "strict_spread of (cpu 1) + (gpu 1) + (cpu 1)",
	} {
		if got := request(t, text).String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestZeroRequestAsksForNothing(t *testing.T) {
	plain, err := Plain()
	if err != nil || !plain.Equal(Request{}) || len(Request{}.Bundles()) != 1 || len(Request{}.Sum()) != 0 {
		t.Fatal(plain, err)
	}
}

func TestSum(t *testing.T) {
	sum := request(t, "pack(gpu=1;cpu=1,gpu=0.5;cpu=0.25,a=1)").Sum()
	var texts []string
	for _, it := range sum {
		texts = append(texts, it.String())
	}
	if got := strings.Join(texts, ", "); got != "a 1, cpu 1.25, gpu 1.5" {
		t.Fatal(got)
	}
}

var anyBundle = rapid.Custom(func(t *rapid.T) Bundle {
	var items []Item
	for _, name := range []string{"cpu", "gpu", "memory", "nvidia.com/mig-1g", "_x"} {
		n := rapid.Uint64Range(0, 1<<50).Draw(t, name)
		a := Amount{lo: n}
		if name == GPU {
			a = Whole(n)
		}
		items = append(items, Item{name, a})
	}
	b, err := NewBundle(items...)
	if err != nil {
		t.Fatal(err)
	}
	return b
})

var anyRequest = rapid.Custom(func(t *rapid.T) Request {
	s := Strategy(rapid.IntRange(0, 3).Draw(t, "strategy"))
	r, err := NewRequest(s, rapid.SliceOfN(anyBundle, 1, 5).Draw(t, "bundles")...)
	if err != nil {
		t.Fatal(err)
	}
	return r
})

// B-039, B-041: the text contains the whole request, and equal texts mean equal shapes.
func TestRequestsSurviveWriting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRequest.Draw(t, "request")
		for _, c := range codecs {
			type file struct{ R Request }
			text, err := c.marshal(file{r})
			if err != nil {
				t.Fatal(err)
			}
			var got file
			if err := c.unmarshal(text, &got); err != nil {
				t.Fatalf("%s: %s: %v", c.name, text, err)
			}
			if !same(r, got.R) || !r.Equal(got.R) {
				t.Fatalf("%s: %v was written %s and read %v", c.name, r, text, got.R)
			}
		}
		if q := anyRequest.Draw(t, "other"); r.Equal(q) != same(r, q) {
			t.Fatalf("Equal is wrong about %v and %v", r, q)
		}
	})
}

func same(r, q Request) bool {
	if r.Strategy() != q.Strategy() || len(r.Bundles()) != len(q.Bundles()) {
		return false
	}
	for i, b := range r.Bundles() {
		if !b.Equal(q.Bundles()[i]) {
			return false
		}
	}
	return true
}

func FuzzParseRequest(f *testing.F) {
	f.Add("spread(cpu=1;cpu=2,gpu=0.5)")
	f.Add("none;none")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRequest(text)
		if err != nil {
			return
		}
		if q, err := ParseRequest(r.Key()); err != nil || !same(r, q) {
			t.Fatalf("%q: %v %v %v", text, r, q, err)
		}
	})
}
