package jsontext

import "testing"

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
