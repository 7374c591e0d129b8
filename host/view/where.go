package view

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/internal/lazily"
)

func (s *State) where(text string) (*expr.Program, error) {
	p, err := s.Config.Where(text)
	if err != nil {
		return nil, fmt.Errorf("--where: %w", cmp.Or(s.asShown(text), s.misspelt(text), err))
	}
	for _, name := range p.Metrics() {
		if err := s.checkName(text, name); err != nil {
			return nil, fmt.Errorf("--where: %w", cmp.Or(s.asShown(text), err))
		}
	}
	return p, nil
}

// spellings returns how expressions write the names of metrics, parameters and the host's own values, by these
// names with dots: tables have the slashes of groups, which divide in an expression.
func (s *State) spellings() map[string]string {
	known := map[string]string{}
	for v := range config.TrialVars {
		known[v] = v
	}
	for _, name := range s.MetricNames() {
		known[dotted(name)] = spelling("metrics", name)
	}
	for _, name := range s.ParamNames() {
		known[dotted(name)] = spelling("params", name)
	}
	return known
}

func dotted(name string) string { return strings.ReplaceAll(name, "/", ".") }

// spelling returns how an expression writes a name that is one of the kind: with dots between groups, or as a text
// in brackets, if it has more than letters and digits, or is a word of the language.
func spelling(kind, name string) string {
	for part := range strings.SplitSeq(name, "/") {
		if part != identifier().FindString(part) || strings.Contains(part, ".") || reserved[part] {
			return fmt.Sprintf("%s[%q]", kind, name)
		}
	}
	return dotted(name)
}

// reserved are the words of the language of expressions.
var reserved = map[string]bool{"as": true, "break": true, "const": true, "continue": true, "else": true, "false": true,
	"for": true, "function": true, "if": true, "import": true, "in": true, "let": true, "loop": true, "package": true,
	"namespace": true, "null": true, "return": true, "true": true, "var": true, "void": true, "while": true}

// asShown returns the mistake of a name that is written as tables show it: "model/lr" divides model by lr, and "a b" is
// no name.
func (s *State) asShown(text string) error {
	bare := literal().ReplaceAllString(text, "")
	type named struct{ kind, name string }
	var all []named
	for _, name := range s.ParamNames() {
		all = append(all, named{"params", name})
	}
	for _, name := range s.MetricNames() {
		all = append(all, named{"metrics", name})
	}
	slices.SortStableFunc(all, func(a, b named) int { return len(b.name) - len(a.name) }) // "a b" has "a"
	for _, n := range all {
		form := spelling(n.kind, n.name)
		for _, word := range []string{n.name, n.kind + "." + dotted(n.name)} {
			if form != word && dotted(word) != n.kind+"."+form && stands(bare, word) {
				return placed(text, word, fmt.Sprintf("%q is written %s in an expression", word, form))
			}
		}
	}
	return nil
}

// stands reports whether a text has a name where a value may be: "in" is none in `x in [1, 2]`.
func stands(text, name string) bool {
	at := wordAt(text, name)
	if at < 0 || !reserved[name] {
		return at >= 0
	}
	before := strings.TrimRight(text[:at], " \t\n")
	return before == "" || strings.ContainsAny(before[len(before)-1:], "([&|!=<>+-*/%,?:")
}

// wordAt returns where a text has a name that is no part of a longer one; -1: nowhere.
func wordAt(text, name string) int {
	for at := 0; ; at++ {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return -1
		}
		at += i
		if end := at + len(name); (at == 0 || !ofName(text[at-1])) && (end == len(text) || !ofName(text[end])) {
			return at
		}
	}
}

// ofName reports whether a character goes on with the name beside it: also a slash, with which groups are written.
func ofName(c byte) bool {
	return c == '_' || c == '.' || c == '/' || c >= '0' && c <= '9' || c|' ' >= 'a' && c|' ' <= 'z'
}

// placed is a mistake of a name in an expression, with its place there.
func placed(text, name, msg string) error {
	at := wordAt(text, dotted(name))
	if at < 0 {
		at = wordAt(text, name) // in quotes
	}
	if at < 0 {
		return errors.New(msg)
	}
	return &expr.Error{Column: utf8.RuneCountInString(text[:at]) + 1, Msg: msg}
}

// misspelt returns the mistake of the first name in a wrong expression that is nearly a known one: an unknown name is
// taken as a metric, a number, and what is wrong with that says nothing of the name.
func (s *State) misspelt(text string) error {
	names := slices.Collect(maps.Keys(s.spellings()))
	for _, name := range identifier().FindAllString(literal().ReplaceAllString(text, ""), -1) {
		err := s.checkName(text, name)
		if err != nil && !slices.Contains(names, name) && nearest.Of(name, names) != "" {
			return err
		}
	}
	return s.unknownCondition(text, names)
}

// logic are the operators between which a name stands that is meant to be true or false.
var logic = lazily.Regexp(`&&|\|\|`)

// unknownCondition returns the mistake of the first unknown name that is a condition by itself.
func (s *State) unknownCondition(text string, names []string) error {
	for _, part := range logic().Split(literal().ReplaceAllString(text, "''"), -1) {
		name := strings.Trim(part, "!() \t\n")
		alone := name != "" && name == identifier().FindString(name)
		if alone && name != "true" && name != "false" && !slices.Contains(names, name) {
			if err := s.checkName(text, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkName is checkMetric for a name of an expression, with all names that it may have meant.
func (s *State) checkName(text, name string) error {
	if s.checkMetric(name) == nil {
		return nil
	}
	known, hint := s.spellings(), ""
	if near := nearest.Of(name, slices.Collect(maps.Keys(known))); known[near] == near && near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	} else if near != "" {
		hint = "; did you mean " + known[near] + "?"
	}
	return placed(text, name, expr.Quote(dotted(name))+" is neither a parameter nor a metric that was reported"+hint)
}

// values are those of a trial for an expression; its parameters are read only where they are needed.
func (f *Facts) values(t *Trial, params bool) expr.Values {
	var known map[string]any
	if params {
		known = f.Config.Values(t.Params)
	}
	metrics := make(map[string]float64, len(t.Metrics))
	for _, m := range t.Metrics {
		metrics[m.Name] = m.Value
	}
	return expr.Values{Params: known, Metrics: metrics, Vars: map[string]any{
		"trial": t.ID, "number": int64(t.Number), "state": t.State.String(), "iteration": int64(t.Iteration),
		"results": int64(t.Results), "failures": int64(t.Failures), "error": t.Error, "reason": t.Reason,
		"cause": t.Cause.Kind.String()}}
}

// literal is a text in an expression, identifier a name.
var (
	literal    = lazily.Regexp(`'(\\.|[^'\\])*'|"(\\.|[^"\\])*"`)
	identifier = lazily.Regexp(`[A-Za-z_][A-Za-z_0-9]*(\.[A-Za-z_][A-Za-z_0-9]*)*`)
)
