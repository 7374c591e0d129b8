package config

import (
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/nearest"
)

// isMistyped reports maps that define a parameter with a mistyped form, and would be read as a group of
// constants.
func (b *builder) isMistyped(n *node) bool {
	for _, e := range n.keys {
		form := mistypedForm(e)
		if form == "" || !allBounds(n, e.name) {
			continue
		}
		b.fail(e.pos, "unknown form %s; did you mean %q? A parameter of this name is written %s: {value: ...}",
			quote(e.name), form, e.name)
		return true
	}
	return false
}

// mistypedForm returns the form that a mistyped key means; "" if it may be the name of a constant
// or a parameter.
func mistypedForm(e entry) string {
	meant := []string{"value", "choice", "uniform", "loguniform"}
	switch e.value.kind {
	case listKind, nullKind:
		return ""
	case mapKind:
		if len(e.value.keys) == 0 || hasForm(e.value) || e.value.get("value") != nil {
			return ""
		}
		meant = []string{"choice", "ordinal", "grid"}
	}
	for _, form := range meant {
		if nearest.Typo(e.name, form) && e.name != form+"s" {
			return form
		}
	}
	return ""
}

// isFormOfMap reports a parameter with a map where its form has a list or an expression, which would be read as a group
// of constants. An expression with ? and : that is not in quotes is a map, too.
func (b *builder) isFormOfMap(member entry) bool {
	n := member.value
	for _, form := range forms {
		v := n.get(form)
		isMap := v != nil && v.kind == mapKind && len(v.keys) > 0
		if form == "value" || !isMap || hasForm(v) || !allModifiers(n, form) {
			continue
		}
		meant := meantAs(form, v)
		if form == "sample" {
			meant = "{sample: EXPR} with quotes around the expression"
		}
		b.fail(v.pos, "found a map below %s; write %s: %s, or {value: {...}} for a constant map", form,
			member.name, validForm(meant))
		return true
	}
	return false
}

// lacksBrackets reports a parameter whose numbers have no brackets, and which would be read as a group of constants: in
// {uniform: 0, 1} the keys are uniform and 1.
func (b *builder) lacksBrackets(member entry) bool {
	n := member.value
	for _, form := range forms {
		v := n.get(form)
		if form == "value" || v == nil || v.kind != numberKind && v.kind != nullKind {
			continue
		}
		numbers, only := numbersBeside(n, form)
		if !only || len(numbers) == 0 {
			continue
		}
		b.fail(v.pos, "%s lacks its brackets; write %s: %s. A parameter of this name is written %s: {value: ...}",
			form, member.name, validForm("{"+form+": ["+strings.Join(numbers, ", ")+"]}"), form)
		return true
	}
	return false
}

// numbersBeside returns the numbers of a form without brackets, and whether n has nothing else but modifiers of the
// form.
func numbersBeside(n *node, form string) (numbers []string, only bool) {
	found, ranges := 0, slices.Contains([]string{"uniform", "loguniform", "int"}, form)
	for _, e := range n.keys {
		switch {
		case e.name == form && e.value.kind == numberKind:
			numbers = append(numbers, e.value.text)
		case e.name == form, slices.Contains(modifiers[form], e.name):
		case e.value.kind == nullKind && numberPattern().MatchString(e.name):
			numbers, found = append(numbers, e.name), found+1
		case ranges && e.value.kind == numberKind && slices.Contains(slices.Concat(lowKeys, highKeys), e.name):
			numbers, found = append(numbers, e.value.text), found+1
		default:
			return nil, false
		}
	}
	if found == 0 {
		return nil, false
	}
	return numbers, true
}
