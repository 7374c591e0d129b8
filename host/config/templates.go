package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/internal/lazily"
	"github.com/tunehost/tunehost/plugins/trainables/command/argv"
)

// templates checks the names in braces in command and trial_name. Braces in directory names have no
// meaning.
func (b *builder) templates() {
	names := b.allNames()
	if n := b.at("trial_name"); n != nil {
		b.e.TrialName = n.text
		b.template(n, append([]string{"number", "id"}, names...))
	}
	if b.e.Trainable == nil || b.bad["space"] {
		return
	}
	command := b.root.get("trainable").get("command")
	if command == nil {
		return
	}
	for _, n := range command.items {
		b.argument(n, names)
	}
}

// argument checks the placeholders of an argument of the command.
func (b *builder) argument(n *node, names []string) {
	known := func(name string) bool {
		return b.isDropped(name) || slices.ContainsFunc(names,
			func(p string) bool { return p == name || strings.ReplaceAll(p, "/", ".") == name })
	}
	_, err := argv.Parse(n.text, known)
	if unknown, ok := errors.AsType[*argv.UnknownName](err); ok {
		b.fail(n.at(unknown.Column), "%v%s", err, nearest.Hint(unknown.Name,
			append([]string{argv.Params, argv.Flags}, names...)))
		return
	}
	for _, m := range ofShell().FindAllStringSubmatch(n.text, -1) {
		if known(m[1]) {
			b.warn(n.pos, "%s is left to the shell; write {%s} for the parameter, or use $%s", m[0], m[1],
				argv.Variable(m[1]))
		}
	}
	for _, m := range formatted().FindAllStringSubmatch(n.text, -1) {
		if known(m[2]) && m[1] == "" {
			b.warn(n.pos, "%s is handed over as it is; the value of the parameter is {%s}", quote(m[0]), m[2])
		}
	}
}

// ofShell matches a variable as a shell writes it.
var ofShell = lazily.Regexp(`\$\{([^{}]+)\}`)

// formatted matches a name with a format, as Python writes it.
var formatted = lazily.Regexp(`(\$?)\{([^{}:!]+)[:!][^{}]*\}`)

func (b *builder) template(n *node, names []string) {
	_, err := Expand(n.text, func(name string) (string, bool) {
		for _, known := range names {
			if known == name || strings.ReplaceAll(known, "/", ".") == name {
				return "", true
			}
		}
		return "", b.isDropped(name)
	})
	if e, ok := err.(*templateError); ok {
		b.fail(n.at(e.column), "%s%s", e.msg, nearest.Hint(e.name, names))
	}
}

type templateError struct {
	column    int
	name, msg string
}

func (e *templateError) Error() string { return fmt.Sprintf("column %d: %s", e.column, e.msg) }

// Expand replaces each {NAME} in a template by value(NAME); {{ and }} are braces. An unknown name is
// an error.
func Expand(template string, value func(name string) (string, bool)) (string, error) {
	var out strings.Builder
	runes := []rune(template)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; {
		case (c == '{' || c == '}') && i+1 < len(runes) && runes[i+1] == c:
			out.WriteRune(c)
			i++
		case c == '}':
			return "", &templateError{i + 1, "", "found a } without {, expected }} for a brace"}
		case c == '{':
			end := i + 1
			for end < len(runes) && runes[end] != '}' && runes[end] != '{' {
				end++
			}
			name := string(runes[i+1 : end])
			if end == len(runes) || runes[end] == '{' {
				return "", &templateError{i + 1, "", "found a { without }, expected {{ for a brace"}
			}
			text, ok := value(name)
			if !ok {
				return "", &templateError{i + 1, name,
					fmt.Sprintf("no parameter %s; write {{ and }} for braces", quote(name))}
			}
			out.WriteString(text)
			i = end
		default:
			out.WriteRune(c)
		}
	}
	return out.String(), nil
}
