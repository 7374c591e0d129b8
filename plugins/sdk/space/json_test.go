package space

import (
	"strings"
	"testing"
)

func jsonSpace(t testing.TB) *Space {
	return mustValidate(t, &Space{Params: []Param{
		{Name: "opt/lr", Kind: Real, Low: 0, High: 10},
		{Name: "units", Kind: Int, Low: -1000, High: 1000},
		{Name: "opt/adam/eps", Kind: Real, Low: 0, High: 1},
		{Name: "act", Kind: Choice, Choices: raws(`"relu"`, `"gelu"`, `{"a": 1, "b": [1.5]}`, "null")},
		{Name: "size", Kind: Ordinal, Choices: raws("8", "16", "32.0")},
		{Name: "big", Kind: Int, Low: -maxExact, High: maxExact},
	}})
}

func TestDecode(t *testing.T) {
	s := jsonSpace(t)
	for _, c := range []struct {
		p    Point
		want string
	}{
		{Point{1, 5, 1e-8, 2, 2, maxExact}, `{"opt":{"lr":1.0,"adam":{"eps":1e-08}},"units":5,"act":{"a": 1, "b": ` +
			`[1.5]},"size":32.0,"big":9007199254740992}`},
		{Point{0.30000000000000004, nan, nan, 3, nan, nan}, `{"opt":{"lr":0.30000000000000004},"act":null}`},
		{Point{nan, nan, nan, nan, nan, nan}, `{}`},
	} {
		got, err := s.Decode(c.p)
		if err != nil || string(got) != c.want {
			t.Errorf("%v\ngot  %s (%v)\nwant %s", c.p, got, err, c.want)
		}
	}
	if _, err := s.Decode(Point{1, 2000, 0, 0, 0,
		0}); message(err) != `parameter "units" is 2000; allowed: integers from -1000 to 1000` {
		t.Error(err)
	}
}

func TestEncode(t *testing.T) {
	s := jsonSpace(t)
	for _, c := range []struct {
		text string
		want Point
	}{
		{`{}`, Point{nan, nan, nan, nan, nan, nan}},
		{`{"opt": {"lr": 1, "adam": {"eps": 1e-8}}, "units": 5.0}`, Point{1, 5, 1e-8, nan, nan, nan}},
		{`{"opt/lr": 2, "opt": {"adam/eps": 0.5}}`, Point{2, nan, 0.5, nan, nan, nan}},
		{`{"act": {"b":[1.50],"a":1}, "size": 32}`, Point{nan, nan, nan, 2, 2, nan}},
		{`{"act": null, "size": 16.0, "big": -9007199254740992}`, Point{nan, nan, nan, 3, 1, -maxExact}},
	} {
		if got, err := s.Encode([]byte(c.text)); err != nil || !same(got, c.want) {
			t.Errorf("%s\ngot  %v (%v)\nwant %v", c.text, got, err, c.want)
		}
	}
}

// B-104: each error is one line and names the parameter.
func TestEncodeMessages(t *testing.T) {
	s := jsonSpace(t)
	for text, want := range map[string]string{
		`{"unit": 3}`:              `parameter "unit" is unknown; nearest: "units"`,
		`{"opt": {"rl": 3}}`:       `parameter "opt/rl" is unknown; nearest: "opt/lr"`,
		`{"units": 3, "units": 4}`: `parameter "units" is given twice`,
		`{"units": "3"}`:           `parameter "units" is "3"; allowed: integers from -1000 to 1000`,
		`{"units": 3.5}`:           `parameter "units" is 3.5; allowed: integers from -1000 to 1000`,
		`{"units": null}`:          `parameter "units" is null; allowed: integers from -1000 to 1000`,
		`{"big": 9007199254740993}`: `parameter "big" is 9007199254740993; allowed: integers from ` +
			`-9.007199254740992e+15 to 9.007199254740992e+15`,
		`{"opt": {"lr": 1e999}}`:             `parameter "opt/lr" is 1e999; allowed: numbers from 0 to 10`,
		`{"opt": {"lr": [1,` + "\n" + `2]}}`: `parameter "opt/lr" is [1,2]; allowed: numbers from 0 to 10`,
		`{"opt": 3}`:                         `parameters "opt": expected a JSON object`,
		`{"act": "rleu"}`: `parameter "act" is "rleu"; allowed: "relu", "gelu", {"a":1,"b":[1.5]},` +
			` null; nearest: "relu"`,
		`{"size": 30}`:   `parameter "size" is 30; allowed: 8, 16, 32.0; nearest: 32.0`,
		`[]`:             `parameters: expected a JSON object`,
		`{"units": 3} x`: `parameters: there is something after the JSON object`,
		`{"units": }`:    `parameters: not JSON: invalid character '}' looking for beginning of value`,
		``:               `parameters: not JSON: EOF`,
		`{"units": 3`:    `parameters: not JSON: EOF`,
	} {
		if _, err := s.Encode([]byte(text)); message(err) != want {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestEncodeEmptyAndLarge(t *testing.T) {
	if _, err := (&Space{}).Encode([]byte(`{"a": 1}`)); message(err) != `parameter "a" is unknown` {
		t.Error(err)
	}
	deep := strings.Repeat("[", 1e6)
	for _, text := range []string{`{"act": ` + deep, `{"` + deep + `": 1}`, deep} {
		if _, err := jsonSpace(t).Encode([]byte(text)); err == nil || len(err.Error()) > 400 {
			t.Error("no error, or a long one")
		}
	}
}

func FuzzEncode(f *testing.F) {
	f.Add([]byte(`{"opt": {"lr": 1, "adam": {"eps": 1e-8}}, "act": null, "size": 8}`))
	s := jsonSpace(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := s.Encode(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("not one line: %v", err)
			}
			return
		}
		if again, err := s.Decode(p); err != nil {
			t.Fatalf("%v became %s: %v", p, again, err)
		}
	})
}
