package batch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tunehost/tunehost/internal/lazily"
)

// A template is a command: words as a shell would split them, with placeholders. The parts of
// {? … ?} are left out if a placeholder in them has no value.
type template struct {
	parts []part
}

// part is one piece of a template. Exactly one field has a meaning, as kind says.
type part struct {
	kind     partKind
	text     string // of a literal, or the name of a placeholder
	optional []part
}

type partKind uint8

const (
	literal partKind = iota
	space
	placeholder
	optional
)

// values are what placeholders stand for. A name without words has no value.
type values map[string][]string

// one returns a value of one word; "" is none.
func one(word string) []string {
	if word == "" {
		return nil
	}
	return []string{word}
}

// badTemplate is a mistake in a template, at a column of its text, in characters from 1.
type badTemplate struct {
	column int
	what   string
}

func (e *badTemplate) Error() string { return fmt.Sprintf("at its column %d, %s", e.column, e.what) }

// placeholderForm is a placeholder; braces around anything else are literal.
var placeholderForm = lazily.Regexp(`^\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// parseTemplate parses a command with the placeholders that are known.
func parseTemplate(text string, known []string) (template, error) {
	p := &parser{text: text, known: known}
	parts, err := p.parse(false)
	return template{parts}, err
}

type parser struct {
	text  string
	at    int
	known []string
	quote byte // the quotation mark that is open, or 0
	parts []part
}

func (p *parser) wrong(at int, format string, args ...any) error {
	return &badTemplate{utf8.RuneCountInString(p.text[:at]) + 1, fmt.Sprintf(format, args...)}
}

// parse parses to the end, or to the end of an optional part.
func (p *parser) parse(inside bool) ([]part, error) {
	before, begin := p.parts, p.at
	p.parts = nil
	for p.at < len(p.text) && !strings.HasPrefix(p.text[p.at:], "?}") {
		if err := p.next(inside); err != nil {
			return nil, err
		}
	}
	parts := p.parts
	p.parts = before
	switch {
	case p.quote != 0:
		return nil, p.wrong(begin, "a quotation mark %c has no other", p.quote)
	case inside && p.at == len(p.text):
		return nil, p.wrong(begin-2, "{? has no ?}")
	case !inside && p.at < len(p.text):
		return nil, p.wrong(p.at, "?} has no {?")
	}
	return parts, nil
}

func (p *parser) add(x part, length int) {
	last := len(p.parts) - 1
	if x.kind == literal && last >= 0 && p.parts[last].kind == literal {
		p.parts[last].text += x.text
	} else {
		p.parts = append(p.parts, x)
	}
	p.at += length
}

// next parses one piece.
func (p *parser) next(inside bool) error {
	rest := p.text[p.at:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
		p.add(part{text: rest[:1]}, 2)
	case strings.HasPrefix(rest, "{?"):
		return p.optional(inside)
	case placeholderForm().MatchString(rest):
		return p.placeholder(placeholderForm().FindStringSubmatch(rest)[1])
	case p.quote != 0 && c == p.quote:
		p.quote = 0
		p.at++
	case p.quote != 0 && c != '\\' || p.quote == '\'':
		p.add(part{text: rest[:1]}, 1)
	case c == '"' || c == '\'':
		p.quote = c
		p.add(part{}, 1) // an empty word is a word
	case c == '\\' && len(rest) > 1:
		p.add(part{text: rest[1:2]}, 2)
	case strings.ContainsRune(" \t\r\n", rune(c)):
		p.add(part{kind: space}, 1)
	default:
		return p.plain(c)
	}
	return nil
}

// plain takes a character that stands for itself, unless only a shell would understand it.
func (p *parser) plain(c byte) error {
	if strings.IndexByte("|&;<>`", c) >= 0 {
		return p.wrong(p.at, "%c needs a shell, and commands are run without one: quote it, or write sh -c '...'", c)
	}
	p.add(part{text: string([]byte{c})}, 1)
	return nil
}

func (p *parser) placeholder(name string) error {
	if !slices.Contains(p.known, name) {
		return p.wrong(p.at, "{%s} is unknown; known: {%s}; for a text in braces write {{%s}}", name,
			strings.Join(p.known, "}, {"), name)
	}
	p.add(part{kind: placeholder, text: name}, len(name)+2)
	return nil
}

func (p *parser) optional(inside bool) error {
	if inside || p.quote != 0 {
		return p.wrong(p.at, "{? cannot be inside of another, or of quotation marks")
	}
	p.at += len("{?")
	parts, err := p.parse(true)
	if err == nil {
		p.add(part{kind: optional, optional: parts}, len("?}"))
	}
	return err
}

// uses reports whether a placeholder is in the template.
func (t template) uses(name string) bool { return uses(t.parts, name) }

func uses(parts []part, name string) bool {
	return slices.ContainsFunc(parts, func(p part) bool {
		return p.kind == placeholder && p.text == name || uses(p.optional, name)
	})
}

// missing returns the error for a placeholder without a value outside of {? ?}.
type missing struct{ name string }

func (e *missing) Error() string {
	return fmt.Sprintf("{%s} has no value here: put what belongs to it into {? ?}", e.name)
}

var errNoCommand = errors.New("it has no words")

// expand returns the words of the command. A placeholder with several words, or none, must be a
// whole word. Elsewhere the first word counts.
func (t template) expand(v values) ([]string, error) {
	e := expansion{values: v}
	if err := e.parts(t.parts); err != nil {
		return nil, err
	}
	e.end()
	if len(e.words) == 0 {
		return nil, errNoCommand
	}
	return e.words, nil
}

type expansion struct {
	values values
	words  []string
	word   string
	begun  bool
}

func (e *expansion) end() {
	if e.begun {
		e.words = append(e.words, e.word)
	}
	e.word, e.begun = "", false
}

func (e *expansion) parts(parts []part) error {
	for i, p := range parts {
		switch p.kind {
		case literal:
			e.word, e.begun = e.word+p.text, true
		case space:
			e.end()
		case optional:
			if !e.complete(p.optional) {
				continue
			}
			if err := e.parts(p.optional); err != nil {
				return err
			}
		case placeholder:
			if err := e.placeholder(p.text, e.alone(parts, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// complete reports whether all placeholders have values.
func (e *expansion) complete(parts []part) bool {
	return !slices.ContainsFunc(parts, func(p part) bool { return p.kind == placeholder && len(e.values[p.text]) == 0 })
}

// alone reports whether the part i is a whole word.
func (e *expansion) alone(parts []part, i int) bool {
	return !e.begun && (i+1 == len(parts) || parts[i+1].kind == space)
}

func (e *expansion) placeholder(name string, alone bool) error {
	words, is := e.values[name]
	switch {
	case len(words) == 0 && alone && is: // no words at all, such as {args}
		return nil
	case len(words) == 0:
		return &missing{name}
	}
	if alone {
		e.words = append(e.words, words[:len(words)-1]...)
	}
	e.word, e.begun = e.word+words[len(words)-1], true
	return nil
}
