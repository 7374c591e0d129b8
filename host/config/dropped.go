package config

import (
	"slices"
	"strings"

	"github.com/tunehost/tunehost/internal/lazily"
)

// isDropped reports whether a name, with parts joined by "/" or ".", belongs to a parameter that could
// not be built, or to a group that contains one.
func (b *builder) isDropped(name string) bool {
	if name == "" {
		return false
	}
	name = strings.ReplaceAll(name, ".", "/")
	return b.bad["space"] || slices.ContainsFunc(b.dropped, func(d string) bool {
		return related(name, strings.ReplaceAll(d, ".", "/"))
	})
}

// related reports whether two names are equal or one is a group that contains the other.
func related(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// nameInside matches a name in an expression, with or without its groups. Like nameForm, it is compiled when it is
// needed.
var nameInside = lazily.Regexp(`[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)*`)

// mentionsDropped reports whether an expression uses such a parameter.
func (b *builder) mentionsDropped(text string) bool {
	plain := func(name string) bool { return b.isDropped(strings.TrimPrefix(name, "params.")) }
	quoted := func(name string) bool {
		return strings.Contains(text, `"`+name+`"`) || strings.Contains(text, "'"+name+"'")
	}
	return slices.ContainsFunc(nameInside().FindAllString(text, -1), plain) || slices.ContainsFunc(b.dropped, quoted)
}
