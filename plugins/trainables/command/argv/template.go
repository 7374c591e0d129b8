package argv

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tunehost/tunehost/internal/lazily"
)

// Names with a special meaning, unless the space has a parameter of the name Params.
const (
	Params = "params" // the path of params.json
	Flags  = "flags"  // all parameters as --NAME=VALUE
)

// A Template is an argument with placeholders: text, name, text, name, …, text.
type Template []string

// UnknownName is an error for a name in braces that is not a parameter.
type UnknownName struct {
	Name   string
	Column int // of the brace, in characters from 1
}

func (e *UnknownName) Error() string {
	return fmt.Sprintf("no parameter %s; to keep {%s} literally write {{%s}}", strconv.Quote(e.Name), e.Name,
		e.Name)
}

// nameForm matches a name of a parameter, possibly in groups. It is compiled when it is needed: every process of
// tunehost would pay for its tables.
var nameForm = lazily.Regexp(`^[\pL_][\pL\pN_]*([./-][\pL\pN_]+)*$`)

// Parse parses an argument. known reports which names are parameters; nil: all valid names. The
// error is an *UnknownName.
func Parse(arg string, known func(name string) bool) (Template, error) {
	p := parser{arg: arg, known: known, out: Template{""}}
	for p.at < len(arg) {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	return p.out, nil
}

type parser struct {
	arg   string
	at    int
	known func(name string) bool
	out   Template
	open  []bool // literal braces that are still open; true: it was written as {{
}

// next parses one character, one pair of braces or one placeholder.
func (p *parser) next() error {
	rest := p.arg[p.at:]
	switch {
	case strings.HasPrefix(rest, "{{"):
		p.open = append(p.open, true)
		p.literal("{", 2)
	case strings.HasPrefix(rest, "}}") && (len(p.open) == 0 || p.open[len(p.open)-1]):
		p.close()
		p.literal("}", 2)
	case rest[0] == '{':
		return p.brace(rest)
	case rest[0] == '}':
		p.close()
		p.literal("}", 1)
	default:
		p.literal(rest[:1], 1)
	}
	return nil
}

func (p *parser) close() { p.open = p.open[:max(0, len(p.open)-1)] }

func (p *parser) literal(text string, length int) {
	p.out[len(p.out)-1] += text
	p.at += length
}

// brace parses a placeholder or a literal brace.
func (p *parser) brace(rest string) error {
	end := strings.IndexAny(rest[1:], "{}") + 1
	name := ""
	if end > 0 && rest[end] == '}' {
		name = rest[1:end]
	}
	ofShell := strings.HasSuffix(p.arg[:p.at], "$")
	switch {
	case name != "" && !ofShell && p.isKnown(name):
		p.out = append(p.out, name, "")
		p.at += end + 1
	case nameForm().MatchString(name) && !ofShell:
		return &UnknownName{Name: name, Column: utf8.RuneCountInString(p.arg[:p.at]) + 1}
	default:
		p.open = append(p.open, false)
		p.literal("{", 1)
	}
	return nil
}

func (p *parser) isKnown(name string) bool {
	switch {
	case name == Params || name == Flags:
		return true
	case p.known == nil:
		return nameForm().MatchString(name)
	}
	return p.known(name)
}

// Variable returns the environment variable of a parameter.
func Variable(param string) string {
	return "TUNEHOST_PARAM_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, param)
}

// Names returns the placeholders.
func (t Template) Names() []string {
	var names []string
	for i := 1; i < len(t); i += 2 {
		names = append(names, t[i])
	}
	return names
}

// IsPlain reports whether there are no placeholders.
func (t Template) IsPlain() bool { return len(t) == 1 }

// Expand replaces the placeholders; lookup reports whether a name is known.
func (t Template) Expand(lookup func(name string) (string, bool)) (string, error) {
	if t.IsPlain() {
		return t[0], nil
	}
	parts := slices.Clone(t)
	for i := 1; i < len(t); i += 2 {
		v, ok := lookup(t[i])
		if !ok {
			return "", &UnknownName{Name: t[i], Column: 1}
		}
		parts[i] = v
	}
	return strings.Join(parts, ""), nil
}

// Quote quotes a text as a word of a POSIX shell.
func Quote(text string) string {
	if text != "" && !strings.ContainsFunc(text, strange) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Pasted is Quote for a line that people copy into a shell such as bash: characters that a terminal would act upon
// instead of showing them are escapes.
func Pasted(text string) string {
	if !strings.ContainsFunc(text, acts) {
		return Quote(text)
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case acts(r):
			for _, x := range []byte(string(r)) {
				fmt.Fprintf(&b, `\%03o`, x)
			}
		case r == '\'' || r == '\\':
			b.WriteRune('\\')
			fallthrough
		default:
			b.WriteRune(r)
		}
	}
	return "$'" + b.String() + "'"
}

// acts reports whether a terminal does something at a character: one of control, or one that turns the direction.
func acts(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

func strange(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		strings.ContainsRune("-_./:=,+@%", r))
}
