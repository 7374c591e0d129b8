package config

import (
	"slices"
	"strings"
	"testing"
)

// A colon within a text in brackets does not end a name, also within braces; by earlier readings it did.
func TestColonsInLists(t *testing.T) {
	for list, want := range map[string]string{
		`[1:1, http://x:80/y, a:b]`:   `["1:1","http://x:80/y","a:b"]`,
		`[12:30:00, "a:b", 'c:d', e]`: `["12:30:00","a:b","c:d","e"]`,
		`[a b:c d , -p 80:80]`:        `["a b:c d","-p 80:80"]`,
		"[a:b,\n  c:d]":               `["a:b","c:d"]`,
		`[[a:b], {c: d:e}]`:           `[["a:b"],{"c":"d:e"}]`,
		`[a: b, c: 1, "d":2]`:         `[{"a":"b"},{"c":1},{"d":2}]`,
		`[{a:1, b: [c:d]}]`:           `[{"a":1,"b":["c:d"]}]`,
		`[a::b]`:                      `["a::b"]`,
	} {
		p := &problems{}
		n := readYAML(p, "x", []byte("{a: "+list+"}"))
		if n == nil || string(n.get("a").json()) != want {
			t.Errorf("%s: found %+v %v, want %s", list, n, p.errs, want)
		}
	}
	for _, list := range []string{`[a:"b"]`, `[a:*b]`, `[a:b: c]`} {
		p := &problems{}
		if n := readYAML(p, "x", []byte("{a: "+list+"}")); n != nil || len(p.errs) != 1 ||
			!strings.Contains(p.errs[0].Error(), "needs quotes") {
			t.Errorf("%s: found %v", list, p.errs)
		}
	}
	old := &problems{mapsInLists: true}
	if n := readYAML(old, "x", []byte("{a: [b:c]}")); string(n.json()) != `{"a":[{"b":"c"}]}` {
		t.Errorf("by an earlier reading: %s", n.json())
	}
}

func TestColonsInCommands(t *testing.T) {
	text := "version: 1\nseed: 1\nobjective: {metric: loss, mode: min}\ntrainable: {command: [docker, -p, 80:80]}\n"
	e, err := Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(e.Trainable.Command, "80:80") {
		t.Errorf("the command is %q", e.Trainable.Command)
	}
}
