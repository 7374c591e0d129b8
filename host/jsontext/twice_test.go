package jsontext

import (
	"strings"
	"testing"
)

func TestTooLarge(t *testing.T) {
	long := "1" + strings.Repeat("0", 400)
	for text, want := range map[string][2]string{
		`{"a":1,"b":{"c":[0,-1e999,1e999]}}`:       {"b.c[1]", "-1e999"},
		`[{"x":"1e999"},{"x":1.5e+400}]`:           {"[1].x", "1.5e+400"},
		`{"a":` + long + `}`:                       {"a", long[:40] + "…"},
		`1e999`:                                    {"", "1e999"},
		`{"1e999":1e308,"b":1e-999,"c":-1.79e308}`: {},
		`{"a":1e999`:                               {"a", "1e999"},
		`{"a":`:                                    {},
	} {
		place, number, ok := TooLarge([]byte(text))
		if ok != (want[1] != "") || ok && (place != want[0] || number != want[1]) {
			t.Errorf("%s: %q, %q, %v, want %q", text, place, number, ok, want)
		}
	}
}

func TestTwice(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"a":2}`:                           "a",
		`{"a":{"b":[1,{"c":1},{"d":1,"d":2}]}}`:   "a.b[2].d",
		`[{"x":"x"},{"x":{"x":[]},"y":1,"x":[]}]`: "[1].x",
		`{"a":[],"\u0061":{}}`:                    "a",
		`{"a":{"a":{"a":"a"}},"b":["b","b"]}`:     "",
		`{"a":1,"A":2}`:                           "",
		`{"a":1,"a"`:                              "a",
		`{"a":`:                                   "",
		`"a"`:                                     "",
		``:                                        "",
		`}`:                                       "",
	} {
		if got, ok := Twice([]byte(text)); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", text, got, ok, want)
		}
	}
}
