package config

import (
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/trainables/command/argv"
)

// Limits of a space.
const (
	maxNameBytes = 200
	maxInteger   = 1 << 53
	maxParams    = 1000
	maxPoints    = 10_000
	maxRules     = 100 // constraints
)

// decl is one leaf of the tree under `space`.
type decl struct {
	name  string
	pos   Pos
	form  string // "": a constant
	value *node  // the constant, or the value of the form
	whole *node  // the map with the form and its modifiers
	whens []*node
}

// modifiers lists the keys allowed beside each form.
var modifiers = map[string][]string{
	"uniform": {"step", "when", "was", "open"}, "loguniform": {"step", "when", "was", "open"},
	"int": {"step", "log", "when", "was", "open"}, "normal": {"step", "when", "was"},
	"choice": {"when", "was"}, "ordinal": {"when", "was"}, "grid": {"when", "was"}, "sample": {"when"},
	"value": {"when"},
}

var forms = []string{"uniform", "loguniform", "int", "normal", "choice", "ordinal", "grid", "sample", "value"}

// foreign maps forms of other tuners to what to write instead.
var foreign = map[string]string{
	"randint":     "{int: [a, b]}, both ends included",
	"lograndint":  "{int: [a, b], log: true}",
	"qrandint":    "{int: [a, b], step: q}",
	"quniform":    "{uniform: [a, b], step: q}",
	"qloguniform": "{loguniform: [a, b], step: q}",
	"randn":       "{normal: [mean, sd]}",
	"qrandn":      "{normal: [mean, sd], step: q}",
	"log_uniform": "{loguniform: [a, b]}",
	"float":       "{uniform: [a, b]}",
	"integer":     "{int: [a, b]}",
	"categorical": "{choice: [...]}",
	"choices":     "{choice: [...]}",
	"values":      "{choice: [...]}",
	"sample_from": "{sample: EXPR}",
	"grid_search": "{grid: [...]}",
	"range":       "{uniform: [a, b]}",
	"min":         "{uniform: [min, max]}",
	"low":         "{uniform: [low, high]}",
}

// space builds everything under the key "space".
func (b *builder) space() {
	b.e.Space = &space.Space{}
	b.e.scope = &expr.Scope{Constants: map[string]any{}, Forbidden: map[string]string{}}
	n := b.at("space")
	if n == nil || n.kind != mapKind {
		return
	}
	decls := b.group(n, "", nil)
	if len(decls) > maxParams {
		b.fail(n.pos, "the space has %d parameters, the limit is %d", len(decls), maxParams)
		b.bad["space"] = true
		return
	}
	b.clashes(decls)
	var searched, derived []decl
	for _, d := range decls {
		switch {
		case d.isConstant() && len(d.whens) == 0:
			b.constant(d)
		case d.isConstant() || d.form == "sample":
			derived = append(derived, d)
			b.e.scope.Computed = append(b.e.scope.Computed, d.name)
		default:
			searched = append(searched, d)
			before := len(b.errs)
			b.e.Space.Params = append(b.e.Space.Params, b.param(d))
			b.wrong[d.name] = len(b.errs) > before
		}
	}
	b.e.scope.Params = b.e.Space.Params
	before := len(b.errs)
	b.conditions(searched, derived)
	b.derived(derived)
	b.e.KeepsDraws = b.reading >= keptReading && b.e.draws()
	if !b.bad["space"] && len(b.errs) == before {
		b.validate(searched)
		b.formerValues(searched)
	}
}

// formerValues reads `was`: the value that trials had before a parameter was searched.
func (b *builder) formerValues(searched []decl) {
	b.e.was = map[string]float64{}
	for i, d := range searched {
		n := d.whole.get("was")
		if n == nil || b.wrong[d.name] {
			continue
		}
		alone := b.e.Space.Params[i]
		alone.When = nil
		c, err := coordinate(&alone, n.value())
		if err == nil {
			err = (&space.Space{Params: []space.Param{alone}}).CheckGiven(space.Point{c})
		}
		if err != nil {
			b.fail(n.pos, "found was: %s, expected a value that %s can have here", n.describe(), d.name)
			continue
		}
		b.e.was[d.name] = c
		if len(b.e.was) == 1 && !b.root.has("learn_from") {
			b.warn(n.pos, "was has no effect: it is for trials of other experiments, which learn_from names")
		}
	}
}

func (d *decl) isConstant() bool { return d.form == "" || d.form == "value" }

// validate lets package space check each parameter by itself, so that a mistake has its place.
func (b *builder) validate(searched []decl) {
	for i, d := range searched {
		if b.wrong[d.name] {
			continue
		}
		alone := b.e.Space.Params[i]
		alone.When = nil
		err := (&space.Space{Params: []space.Param{alone}}).Validate()
		if err != nil {
			_, why, _ := strings.Cut(err.Error(), ": ")
			b.fail(d.pos, "%s: %s", d.name, why)
		}
	}
}

func (b *builder) constant(d decl) {
	b.noNUL(d.value)
	b.e.Constants = append(b.e.Constants, Constant{d.name, d.value.json()})
	b.e.scope.Constants[d.name] = d.value.value()
}

// group walks a map of parameters; whens are the enclosing conditions.
func (b *builder) group(n *node, prefix string, whens []*node) (decls []decl) {
	if own := n.get("when"); own != nil && prefix != "" {
		if !b.isCondition(own) {
			b.dropped = append(b.dropped, strings.TrimSuffix(prefix, "/"))
			return nil
		}
		whens = append(slices.Clone(whens), own)
	}
	keys := n.keys
	if b.strict {
		keys = rejoined(keys)
	}
	for _, e := range keys {
		if e.name == "when" && prefix != "" || !b.goodName(e) {
			continue
		}
		before := len(b.errs)
		list := b.member(e, prefix+e.name, whens)
		if len(list) == 0 && len(b.errs) > before {
			b.dropped = append(b.dropped, prefix+e.name)
		}
		decls = append(decls, list...)
	}
	return decls
}

func (b *builder) member(e entry, name string, whens []*node) []decl {
	n := e.value
	if len(name) > maxNameBytes {
		b.fail(e.pos, "the name %s has %d bytes, the limit is %d", quote(name), len(name), maxNameBytes)
		return nil
	}
	if n.kind == listKind && !b.noFormInside(n) {
		return nil
	}
	if b.strict && b.isPasted(e) {
		return nil
	}
	if b.reading >= listReading && n.kind == nullKind && n.text == "" {
		b.warn(e.pos, "%s has no value, and so is the constant null in each trial: write what it may be, or %s: null",
			name, e.name)
	}
	if n.kind != mapKind || len(n.keys) == 0 {
		return []decl{{name: name, pos: e.pos, value: n, whole: n, whens: whens}}
	}
	form := b.formOf(n)
	switch {
	case form != "":
		return b.parameter(e, name, form, whens)
	case b.strict && b.isDescribed(e), b.looksForeign(n), b.strict && b.isMistyped(n),
		b.reading >= bareReading && b.lacksBrackets(e), b.reading >= listReading && b.isFormOfMap(e):
		return nil
	}
	b.modifiedConstant(name, n)
	return b.group(n, name+"/", whens)
}

// modifiedConstant warns of a constant with a modifier that constants do not have: it is a group of constants.
func (b *builder) modifiedConstant(name string, n *node) {
	if !n.has("value") || hasForm(n) {
		return
	}
	at := -1
	for i, e := range n.keys {
		switch e.name {
		case "was", "open":
			at = i
		case "value", "step", "log", "when":
		default:
			return
		}
	}
	if at >= 0 {
		b.warn(n.keys[at].pos, "%s is no modifier of value, so that %s is a group of constants, %[2]s/value and "+
			"%[2]s/%[1]s; for a constant leave %[1]s out", n.keys[at].name, name)
	}
}

// isPasted reports values that are not constants: lists, and code of other tuners.
func (b *builder) isPasted(e entry) bool {
	n := e.value
	if n.kind == listKind {
		b.fail(n.pos, "found a list, expected a parameter: choice or grid? Write %s: %s to try one of them "+
			"in each trial, {grid: [...]} to try every one, {value: [...]} for a list that is a constant",
			e.name, validForm("{choice: "+flowList(n)+"}"))
		return true
	}
	if n.kind != textKind {
		return false
	}
	if c := parseCall(n.text); c != nil {
		b.fail(n.pos, "found %s, which is not run as code; write %s: %s, or {value: TEXT} for the text itself",
			quote(n.text), e.name, c.instead())
		return true
	}
	return false
}

// isDescribed reports maps by which other tuners describe a parameter.
func (b *builder) isDescribed(e entry) bool {
	meant := described(e.value)
	if meant == "" {
		return false
	}
	b.fail(e.value.pos, "found a parameter as another tuner writes it; write %s: %s, or {value: {...}} for a constant "+
		"map", e.name, meant)
	return true
}

// rejoined rejoins code that a map in braces split at its commas into keys without values.
func rejoined(keys []entry) (out []entry) {
	for i := 0; i < len(keys); i++ {
		e := keys[i]
		for e.value.kind == textKind && callInner().MatchString(e.value.text) && open(e.value.text) > 0 &&
			i+1 < len(keys) && keys[i+1].value.kind == nullKind {
			i++
			whole := *e.value
			whole.text += ", " + keys[i].name
			e.value = &whole
		}
		out = append(out, e)
	}
	return out
}

func open(text string) int { return strings.Count(text, "(") - strings.Count(text, ")") }

// formOf returns the form of a map: a key with the name of a form, whose value is not a map.
func (b *builder) formOf(n *node) string {
	if form := formOf(n); form != "" || !b.strict {
		return form
	}
	if v := n.get("value"); v != nil && allModifiers(n, "value") && (v.kind != mapKind || !hasForm(v)) {
		return "value"
	}
	return ""
}

// hasForm reports whether n contains a parameter.
func hasForm(n *node) bool {
	found := n.kind == mapKind && formOf(n) != ""
	for _, e := range n.keys {
		found = found || hasForm(e.value)
	}
	for _, item := range n.items {
		found = found || hasForm(item)
	}
	return found
}

func formOf(n *node) string {
	for _, form := range forms {
		if v := n.get(form); form != "value" && v != nil && v.kind != mapKind {
			if onlyKnown := v.kind == listKind || v.kind == textKind; onlyKnown || allModifiers(n, form) {
				return form
			}
		}
	}
	return ""
}

func allModifiers(n *node, form string) bool {
	for _, e := range n.keys {
		if e.name != form && !slices.Contains([]string{"step", "log", "when"}, e.name) {
			return false
		}
	}
	return true
}

// looksForeign reports maps that are probably meant as a parameter but are none.
func (b *builder) looksForeign(n *node) bool {
	for _, e := range n.keys {
		if e.value.kind == mapKind || !allBounds(n, e.name) {
			continue
		}
		if instead := foreign[e.name]; instead != "" &&
			(e.value.kind == listKind || e.name != "float" && e.name != "integer") {
			b.fail(e.pos, "unknown form %s, expected %s", quote(e.name), instead)
			return true
		}
		near := nearest.Of(e.name, forms)
		if near != "" && len(e.name) > 3 && (e.value.kind == listKind || near == "sample" && e.value.kind == textKind) {
			b.fail(e.pos, "unknown form %s; did you mean %q?", quote(e.name), near)
			return true
		}
	}
	return false
}

// allBounds reports whether all keys beside name are modifiers or bounds of other tuners.
func allBounds(n *node, name string) bool {
	for _, e := range n.keys {
		if e.name != name && !slices.Contains([]string{"step", "log", "when", "max", "high", "type", "q", "min", "low",
			"distribution"}, e.name) {
			return false
		}
	}
	return true
}

func (b *builder) noFormInside(n *node) bool {
	ok := true
	for _, item := range n.items {
		if item.kind == mapKind && len(item.keys) == 1 && formOf(item) != "" && item.keys[0].value.kind == listKind {
			b.fail(item.pos, "found a parameter inside a list, which would never get a value; expected it under a "+
				"name of its own")
			ok = false
		}
	}
	return ok
}

func (b *builder) goodName(e entry) bool {
	switch bad := strings.IndexFunc(e.name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '/' }); {
	case e.name == "" || strings.TrimSpace(e.name) != e.name:
		b.fail(e.pos, "found %s, expected the name of a parameter", quote(e.name))
	case bad >= 0:
		b.fail(e.pos, "found %s, expected a name without / and control characters; nest maps instead", quote(e.name))
	default:
		return true
	}
	return false
}

func (b *builder) isCondition(n *node) bool {
	before := len(b.errs)
	condition.check(b.problems, n)
	return len(b.errs) == before
}

func (b *builder) parameter(e entry, name, form string, whens []*node) []decl {
	n := e.value
	ok := true
	for _, k := range n.keys {
		switch {
		case k.name == form || slices.Contains(modifiers[form], k.name):
		case strings.Contains(k.name, ")") && k.value.kind == nullKind:
			b.fail(k.pos, "found %s as a key; an expression with a comma needs quotes around it", quote(k.name))
			return nil
		case slices.Contains(forms, k.name):
			b.fail(k.pos, "found %q beside %q, expected one form", k.name, form)
			ok = false
		case k.name == "log" && form == "loguniform" && k.value.text == "true": // says the same
		case k.name == "log" && form == "uniform":
			b.fail(k.pos, `"log" does not go with "uniform", expected {loguniform: [a, b]}`)
			ok = false
		default:
			b.fail(k.pos, "unknown key %s beside %q%s", quote(k.name), form, expectedOrNearest(k.name, modifiers[form]))
			ok = false
		}
	}
	if own := n.get("when"); own != nil {
		if ok = b.isCondition(own) && ok; ok {
			whens = append(slices.Clone(whens), own)
		}
	}
	d := decl{name: name, pos: e.pos, form: form, value: n.get(form), whole: n, whens: whens}
	if form == "sample" && !isText(d.value) {
		b.fail(d.value.pos, "found %s, expected an expression", d.value.describe())
		return nil
	}
	return []decl{d}
}

// clashes reports names that two leaves share, or that are both a leaf and a group.
func (b *builder) clashes(decls []decl) {
	env := map[string]string{}
	for _, d := range decls {
		variable := argv.Variable(d.name)
		if other, taken := env[variable]; taken && other != d.name {
			b.warn(d.pos, "%s and %s share the variable %s; the program sees one of them", quote(d.name), quote(other),
				variable)
		}
		env[variable] = d.name
	}
}
