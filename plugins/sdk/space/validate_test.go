package space

import (
	"math"
	"testing"
)

func TestValidateMessages(t *testing.T) {
	deep := num(1)
	for range 600 {
		deep = of(Neg, deep)
	}
	choice := Param{Kind: Choice, Choices: raws("1", "2")}
	for _, c := range []struct {
		p    Param
		want string
	}{
		{Param{}, "kind 0 is unknown"},
		{Param{Kind: Real, Low: 2, High: 1}, "the lower bound 2 is above the upper bound 1"},
		{Param{Kind: Real, Low: nan, High: 1},
			"bounds NaN and 1 must be finite, and so must the distance between them"},
		{Param{Kind: Real, Low: -1e308, High: 1e308}, "bounds -1e+308 and 1e+308 must be finite, and so must the " +
			"distance between them"},
		{Param{Kind: Real, High: 1, Log: true}, "a logarithmic scale needs a lower bound above 0, not 0"},
		{Param{Kind: Real, High: 1, Step: -1}, "step -1 must be a finite number above 0"},
		{Param{Kind: Real, High: 1, Step: nan}, "step NaN must be a finite number above 0"},
		{Param{Kind: Real, High: 1, Step: 1.5}, "step 1.5 is larger than the range from 0 to 1"},
		{Param{Kind: Real, Low: 0.1, High: 0.3, Step: 0.2}, ""},
		{Param{Kind: Real, Low: 0.5, High: 0.5, Step: 0.2}, "there is no multiple of step 0.2 from 0.5 to 0.5"},
		{Param{Kind: Real, High: 1e300, Step: 1}, "step 1 is too small for the range from 0 to 1e+300"},
		{Param{Kind: Real, Low: 1e-12, High: 1, Step: 0.1, Log: true},
			"a logarithmic scale needs values above 0, and step 0.1 rounds the lower bound 1e-12 to 0"},
		{Param{Kind: Int, Low: 0.5, High: 1}, "0.5 is not an integer within ±2^53"},
		{Param{Kind: Int, High: 1 << 54}, "1.8014398509481984e+16 is not an integer within ±2^53"},
		{Param{Kind: Int, High: 10, Step: 0.5}, "0.5 is not an integer within ±2^53"},
		{Param{Kind: Int, High: 10, Step: 11}, "step 11 is larger than the range from 0 to 10"},
		{Param{Kind: Int, High: 10, Log: true}, "a logarithmic scale needs a lower bound above 0, not 0"},
		{Param{Kind: Normal}, "the standard deviation 0 must be above 0"},
		{Param{Kind: Normal, SD: 1e308}, "mean 0 and standard deviation 1e+308 must be finite, and so must values of " +
			"that order"},
		{Param{Kind: Normal, SD: 1, Log: true}, "a normal distribution has no logarithmic scale"},
		{Param{Kind: Normal, SD: 1, Step: math.Inf(1)}, "step +Inf must be a finite number above 0"},
		{Param{Kind: Normal, SD: 1, Mean: 1e20, Step: 1},
			"step 1 is too small for mean 1e+20 and standard deviation 1"},
		{Param{Kind: Choice}, "there are no choices"},
		{Param{Kind: Choice, Choices: raws("1", "{")}, `choice 2 is not JSON: "{"`},
		{Param{Kind: Ordinal, Choices: raws("[1]", "2", "[ 1 ]")}, "choices 1 and 3 are both [1]"},
		{Param{Kind: Int, When: param(1)}, "its condition: it refers to parameter number 2, and only the 1 before it " +
			"are known there"},
		{Param{Kind: Int, When: param(-1)},
			"its condition: it refers to parameter number 0, and only the 1 before it " +
				"are known there"},
		{Param{Kind: Int, When: is(0, 2)}, `its condition: parameter "c" has no choice number 3`},
		{Param{Kind: Int, When: of(Op(99))}, "its condition: operation 99 is unknown"},
		{Param{Kind: Int, When: of(Add, num(1))}, "its condition: operation 5 has 1 arguments"},
		{Param{Kind: Int, When: of(Not, nil)}, "its condition: a part of the expression is missing"},
		{Param{Kind: Int, When: deep}, "its condition: the expression is nested more than 500 deep"},
	} {
		choice.Name, c.p.Name = "c", "x"
		s := &Space{Params: []Param{choice, c.p}}
		want := c.want
		if want != "" {
			want = `parameter "x": ` + want
		}
		if got := message(s.Validate()); got != want {
			t.Errorf("%+v\ngot  %s\nwant %s", c.p, got, want)
		}
	}
}

func TestValidateNames(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"a", "b/a", "b/b"}, ""},
		{[]string{"a", "a"}, `parameter "a": the name is used twice`},
		{[]string{"a/b", "a/b/c"}, `parameter "a/b": other parameters are nested below this name`},
		{[]string{""}, `parameter "": its name, or a part of it, is empty`},
		{[]string{"a//b"}, `parameter "a//b": its name, or a part of it, is empty`},
		{[]string{"a/"}, `parameter "a/": its name, or a part of it, is empty`},
	} {
		s := &Space{}
		for _, name := range c.names {
			s.Params = append(s.Params, Param{Name: name, Kind: Int})
		}
		if got := message(s.Validate()); got != c.want {
			t.Errorf("%q\ngot  %s\nwant %s", c.names, got, c.want)
		}
	}
	s := &Space{Params: []Param{{Name: "x", Kind: Int}}, Constraints: []*Expr{num(1), is(0, 0)}}
	if got := message(s.Validate()); got != `constraint 2: parameter "x" is not a choice` {
		t.Error(got)
	}
}
