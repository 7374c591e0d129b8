package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// template is an argument with placeholders: text, name, text, name, …, text.
type template []string

func parseTemplate(s string) (template, error) {
	t := template{""}
	for len(s) > 0 {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			i = len(s)
		}
		t[len(t)-1] += s[:i]
		rest, err := t.brace(s[i:])
		if err != nil {
			return nil, err
		}
		s = rest
	}
	return t, nil
}

// brace takes what starts with a brace, or is empty.
func (t *template) brace(s string) (rest string, err error) {
	switch {
	case s == "":
		return "", nil
	case strings.HasPrefix(s, "{{"), strings.HasPrefix(s, "}}"):
		(*t)[len(*t)-1] += s[:1]
		return s[2:], nil
	case s[0] == '}':
		return "", errors.New("a } without its {: write }} for a brace")
	}
	end := strings.IndexAny(s[1:], "{}") + 1
	if end == 0 || s[end] != '}' || end == 1 {
		return "", errors.New("a { that begins no {NAME}: write {{ for a brace")
	}
	*t = append(*t, s[1:end], "")
	return s[end+1:], nil
}

// names are the placeholders.
func (t template) names() []string {
	var names []string
	for i := 1; i < len(t); i += 2 {
		names = append(names, t[i])
	}
	return names
}

// expand puts values in; lookup says whether a name is known.
func (t template) expand(lookup func(name string) (string, bool)) (string, error) {
	if len(t) == 1 {
		return t[0], nil
	}
	parts := slices.Clone(t)
	for i := 1; i < len(t); i += 2 {
		v, ok := lookup(t[i])
		if !ok {
			return "", unknownPlaceholder(t[i])
		}
		parts[i] = v
	}
	return strings.Join(parts, ""), nil
}

func unknownPlaceholder(name string) error {
	return fmt.Errorf("command: unknown placeholder {%s}: it names no parameter; write {{ and }} for braces", name)
}
