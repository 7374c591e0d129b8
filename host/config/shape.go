package config

import (
	"cmp"
	"strings"

	"github.com/tunehost/tunehost/host/nearest"
)

// shape is a form that a value may have: it checks values, describes them as JSON Schema, and writes
// equal values in the same way.
type shape interface {
	check(p *problems, n *node)
	schema() map[string]any
	canon(n *node) *node
}

// key is one key of a map with fixed keys.
type key struct {
	name string
	// what describes the key in one line.
	what  string
	shape shape
	// value is the default as JSON; "" for none.
	value string
	// resume says what a changed value does on resume.
	resume Effect
}

// object is a map of known keys.
type object struct {
	keys     []key
	required []string
	// extra is the form of keys that are not in the list; nil refuses them.
	extra shape
	// like is an example for messages, or "".
	like string
	// list says how several are written, for a user who gives a list; or "".
	list string
}

func keyNames(keys []key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

func withKeys(keys []key) string {
	names := keyNames(keys)
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 6:
		names = append(names[:6], "…")
	}
	return " with the keys " + strings.Join(names, ", ")
}

func (o *object) find(name string) shape {
	for _, k := range o.keys {
		if k.name == name {
			return k.shape
		}
	}
	return o.extra
}

func (o *object) check(p *problems, n *node) {
	if n.kind != mapKind {
		expected := withKeys(o.keys)
		if o.like != "" {
			expected = " such as " + o.like
		}
		if n.kind == listKind && o.list != "" {
			expected += "; " + o.list
		}
		p.fail(n.pos, "found %s, expected a map%s", n.describe(), expected)
		return
	}
	for _, e := range n.keys {
		if strings.Contains(e.name, ")") && e.value.kind == nullKind {
			p.fail(e.pos, "found %s as a key; an expression with a comma needs quotes around it", quote(e.name))
			continue
		}
		if s := o.find(e.name); s != nil {
			s.check(p, e.value)
			continue
		}
		p.fail(e.pos, "unknown key %s%s", quote(e.name),
			cmp.Or(o.elsewhere(e.name), expectedOrNearest(e.name, keyNames(o.keys))))
	}
	for _, name := range o.required {
		switch {
		case n.has(name):
		case o.like != "":
			p.fail(n.pos, "key %s is missing, expected a map such as %s", quote(name), o.like)
		default:
			p.fail(n.pos, "key %s is missing%s", quote(name), o.toWrite(name))
		}
	}
}

func (o *object) schema() map[string]any {
	properties := map[string]any{}
	for _, k := range o.keys {
		properties[k.name] = k.schema()
	}
	out := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if o.extra != nil {
		out["additionalProperties"] = o.extra.schema()
	}
	if len(o.required) > 0 {
		out["required"] = anyList(o.required)
	}
	return out
}

func (o *object) canon(n *node) *node {
	if n.kind != mapKind {
		return n
	}
	c := &node{kind: mapKind, pos: n.pos}
	for _, e := range n.keys {
		if s := o.find(e.name); s != nil {
			e.value = s.canon(e.value)
		}
		c.keys = append(c.keys, e)
	}
	return c
}

// listOf is a list of values of one form. With single, a value stands for a list of one.
type listOf struct {
	item   shape
	some   bool // at least one
	single bool
	like   string // an example for messages
}

func (l *listOf) check(p *problems, n *node) {
	if n.kind != listKind {
		if l.single {
			l.item.check(p, n)
			return
		}
		p.fail(n.pos, "found %s, expected a list%s", n.describe(), l.like)
		return
	}
	if l.some && len(n.items) == 0 {
		p.fail(n.pos, "found an empty list, expected at least one")
	}
	for _, item := range n.items {
		l.item.check(p, item)
	}
}

func (l *listOf) schema() map[string]any {
	out := map[string]any{"type": "array", "items": l.item.schema()}
	if l.some {
		out["minItems"] = 1
	}
	if l.single {
		return map[string]any{"anyOf": []any{l.item.schema(), out}}
	}
	return out
}

func (l *listOf) canon(n *node) *node {
	if n.kind != listKind {
		if !l.single {
			return n
		}
		n = &node{kind: listKind, pos: n.pos, items: []*node{n}}
	}
	c := &node{kind: listKind, pos: n.pos}
	for _, item := range n.items {
		c.items = append(c.items, l.item.canon(item))
	}
	return c
}

// either chooses by the kind of the value: first if it accepts that kind, else the other.
type either struct {
	first shape
	takes func(n *node) bool
	other shape
}

func (e *either) of(n *node) shape {
	if e.takes(n) {
		return e.first
	}
	return e.other
}

func (e *either) check(p *problems, n *node) { e.of(n).check(p, n) }
func (e *either) canon(n *node) *node        { return e.of(n).canon(n) }
func (e *either) schema() map[string]any {
	return map[string]any{"anyOf": []any{e.first.schema(), e.other.schema()}}
}

func isMap(n *node) bool { return n.kind == mapKind }

// special is a form with its own check and its own JSON Schema.
type special struct {
	test func(p *problems, n *node)
	json func() map[string]any
	norm func(n *node) *node
}

func (s *special) check(p *problems, n *node) { s.test(p, n) }
func (s *special) schema() map[string]any     { return s.json() }
func (s *special) canon(n *node) *node {
	if s.norm == nil {
		return n
	}
	return s.norm(n)
}

// expectedOrNearest suggests the nearest known name, or else lists the known names.
func expectedOrNearest(name string, known []string) string {
	if hint := nearest.Hint(name, known); hint != "" {
		return hint
	}
	return ", expected " + list(known, 40)
}

// list writes names for messages, at most limit of them.
func list(names []string, limit int) string {
	if len(names) > limit {
		return "one of " + strings.Join(names[:limit], ", ") + ", …"
	}
	if len(names) > 1 {
		last := len(names) - 1
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return strings.Join(names, "")
}

func anyList(names []string) []any {
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}
