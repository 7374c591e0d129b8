package config

import (
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
