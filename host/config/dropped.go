package config

import (
	"regexp"
	"slices"
	"strings"
)

// isDropped says whether a name, parts joined with "/" or ".", is of a parameter that was
// told to be wrong and of which nothing is left, or is in such a group.
func (b *builder) isDropped(name string) bool {
	if name == "" {
		return false
	}
	name = strings.ReplaceAll(name, ".", "/")
	return b.bad["space"] || slices.ContainsFunc(b.dropped, func(d string) bool {
		return related(name, strings.ReplaceAll(d, ".", "/"))
	})
}

// related says whether one of two names is the other, or a group that has it.
func related(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// nameInside is a name in an expression, with or without its groups.
var nameInside = regexp.MustCompile(`[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)*`)

// mentionsDropped says whether an expression has the name of such a parameter.
func (b *builder) mentionsDropped(text string) bool {
	plain := func(name string) bool { return b.isDropped(strings.TrimPrefix(name, "params.")) }
	quoted := func(name string) bool {
		return strings.Contains(text, `"`+name+`"`) || strings.Contains(text, "'"+name+"'")
	}
	return slices.ContainsFunc(nameInside.FindAllString(text, -1), plain) || slices.ContainsFunc(b.dropped, quoted)
}
