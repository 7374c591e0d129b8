package argv

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func known(name string) bool {
	return name == "lr" || name == "net/units" || name == "net.units" || name == "two words"
}

// Braces around anything that is not a name are literal.
func TestTemplates(t *testing.T) {
	for arg, want := range map[string]string{
		"--lr={lr}": "--lr=<lr>", "{net/units}{net.units}": "<net/units><net.units>",
		"{params} {flags}": "<params> <flags>",
		"{two words}":      "<two words>", `echo "{\"y\": 1}"`: `echo "{\"y\": 1}"`, "{print $1}": "{print $1}",
		"{}": "{}", "{": "{", "}": "}",
		"{{": "{", "}}": "}", "{{lr}}": "{lr}", "{{\"score\": {lr}}}": "{\"score\": <lr>}",
		`{"a": {"b": {lr}}}`: `{"a": {"b": <lr>}}`,
		`{"a": {"b": 1}}`:    `{"a": {"b": 1}}`, "${HOME} ${params}": "${HOME} ${params}", "${lr}": "${lr}",
		"${lr}{lr}": "${lr}<lr>", "$${net/units}": "$${net/units}", "${{lr}}": "${lr}",
		"{1..5} {a,b} { lr }": "{1..5} {a,b} { lr }",
		"{if(x){print}}":      "error print", "{lr:.3f}": "{lr:.3f}", "a}b{": "a}b{", "if (x) { y }": "if (x) { y }",
		"{{{lr}}}": "{<lr>}", "A{ x{{y}}z }": "A{ x{y}z }", "x{{y}}z": "x{y}z", `{"a": {{x}}}`: `{"a": {x}}`,
		"{print}": "error print", "{Lr}": "error Lr", "{netunits}": "error netunits", "x{ü}": "error ü", "{-}": "{-}",
	} {
		got := expanded(arg)
		if got != want {
			t.Errorf("%s: %s, want %s", arg, got, want)
		}
	}
}

func expanded(arg string) string {
	tmpl, err := Parse(arg, known)
	var unknown *UnknownName
	if errors.As(err, &unknown) {
		return "error " + unknown.Name
	}
	got, err := tmpl.Expand(func(name string) (string, bool) { return "<" + name + ">", true })
	if err != nil {
		return err.Error()
	}
	return got
}

func TestUnknownName(t *testing.T) {
	_, err := Parse("ä {lrr}", known)
	var unknown *UnknownName
	if !errors.As(err, &unknown) || unknown.Column != 3 || !strings.Contains(err.Error(), "{{lrr}}") {
		t.Errorf("%v", err)
	}
}

// FuzzTemplate checks that an argument of a command is refused, or that only its placeholders are
// replaced.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{"--lr={lr}", "{{\"a\": {x}}}", "{", "}", "{a{b}", "{}", "{params}{params}",
		"{\"a\":{\"b\":1}}", "${x}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := Parse(text, nil)
		if err != nil {
			t.Fatalf("%q: %v, though any name is one", text, err)
		}
		got, err := x.Expand(func(name string) (string, bool) {
			if name == "" || strings.ContainsAny(name, "{}") {
				t.Fatalf("%q has the placeholder %q", text, name)
			}
			return "{" + name + "}", true
		})
		for _, name := range x.Names() {
			if !strings.Contains(text, "{"+name+"}") {
				t.Fatalf("%q has no {%s}", text, name)
			}
		}
		without := strings.NewReplacer("{", "", "}", "")
		if err != nil || without.Replace(got) != without.Replace(text) {
			t.Fatalf("%q became %q, %v", text, got, err)
		}
	})
}

// Commands whose braces are all doubled or around names keep their meaning.
func TestDoubledBraces(t *testing.T) {
	for _, text := range []string{"a", "{x}", "{{a}}", "{{{{", "}}}}", "{{\"a\": {{\"b\": {x}}}}}"} {
		tmpl, err := Parse(text, nil)
		got, err2 := tmpl.Expand(func(string) (string, bool) { return "V", true })
		if want := strings.NewReplacer("{{", "{", "}}", "}", "{x}", "V").Replace(text); err != nil || err2 != nil ||
			got != want {
			t.Errorf("%s: %s, want %s (%v, %v)", text, got, want, err, err2)
		}
	}
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{"--lr=0.1": "--lr=0.1", "a b": "'a b'", "it's": `'it'\''s'`, "": "''",
		"$x": "'$x'"} {
		if got := Quote(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A program is found relative to the directory in which it will start.
func TestFind(t *testing.T) {
	base := t.TempDir()
	path := filepath.Join(base, "bin")
	for name, mode := range map[string]os.FileMode{"run.sh": 0o755, "plain.sh": 0o644, "bin/tool": 0o755} {
		file := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for program, want := range map[string]error{"./run.sh": nil, "run.sh": nil, "tool": nil, "bin/tool": nil,
		base + "/run.sh": nil,
		"./plain.sh":     syscall.EACCES, "plain.sh": syscall.EACCES, "nosuch": os.ErrNotExist,
		"./nosuch": os.ErrNotExist, "./bin": syscall.EISDIR, "": errNoName, ".": syscall.EISDIR,
		"..": syscall.EISDIR} {
		list, err := Command([]string{program}, base, known)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Find(list[0][0], path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", program, err, want)
		}
	}
	list, err := Command([]string{"./run-{lr}.sh"}, base, known)
	got, _ := list[0].Expand(func(string) (string, bool) { return "x", true })
	if got = Program(got, base); err != nil || got != base+"/run-x.sh" {
		t.Errorf("%s, %v", got, err)
	}
}

// A line that people paste into a shell has no character that a terminal acts upon, and means the same.
func TestPasted(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                  "plain",
		"it's $(id) `id`":        `'it'\''s $(id) ` + "`id`'",
		"\x1b[201~\rtouch x\x03": `$'\033[201~\015touch x\003'`,
		"a\n'b\\1":               `$'a\012\'b\\1'`,
		"ü\u0085\u202e7":         `$'ü\302\205\342\200\2567'`,
	} {
		if got := Pasted(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
