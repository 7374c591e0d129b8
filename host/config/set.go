package config

import (
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/nearest"
)

// override applies one KEY=VALUE to the tree: KEY is a path of names joined with dots, VALUE is YAML,
// and null removes the key. place is its place in messages.
func override(p *problems, root *node, reading int, set, place string) {
	at := Pos{File: clip(place)}
	path, text, ok := strings.Cut(set, "=")
	if !ok || path == "" {
		p.fail(at, "found %s, expected KEY=VALUE", quote(set))
		return
	}
	before := len(p.errs)
	value := readYAML(p, at.File, []byte(text))
	for _, e := range p.errs[before:] {
		e.Pos = at
	}
	if value == nil || len(p.errs) > before {
		return
	}
	value = moved(value, at)
	parts := strings.Split(path, ".")
	if len(parts) > maxDepth {
		p.fail(at, "nested more than %d deep", maxDepth)
		return
	}
	if slices.Contains(parts, "") {
		p.fail(at, "found an empty name in %s, expected names joined with dots", quote(path))
		return
	}
	put(p, root, reading, parts, entry{parts[len(parts)-1], at, value})
}

func put(p *problems, at *node, reading int, parts []string, e entry) {
	where := e.pos
	for i, name := range parts[:len(parts)-1] {
		next := at.get(name)
		switch {
		case next == nil && i == 0 && !isKey(name):
			p.fail(where, "no key %s%s", quote(name), nearest.Hint(name, keyNames(experiment.keys)))
			return
		case next == nil && i == 0 && isPluginKey(name): // an option of the default plugin
			next = plugin.canon(unwritten(name, reading))
		case next == nil || next.kind == nullKind:
			next = &node{kind: mapKind, pos: where}
		case next.kind == textKind && isPluginKey(name): // searcher: tpe, --set searcher.seed=3
			next = plugin.canon(next)
		case next.kind != mapKind:
			p.fail(where, "%s is %s, expected a map", strings.Join(parts[:i+1], "."), next.describe())
			return
		default: // aliases share nodes: change a copy
			next = &node{kind: mapKind, pos: next.pos, keys: append([]entry(nil), next.keys...)}
		}
		at.set(entry{name, placeOf(at, name, where), next})
		at = next
	}
	if e.value.kind == nullKind && parts[0] != "space" { // a parameter may have the value null
		at.unset(e.name)
		return
	}
	at.set(e)
}

func placeOf(n *node, name string, otherwise Pos) Pos {
	for _, e := range n.keys {
		if e.name == name {
			return e.pos
		}
	}
	return otherwise
}

// moved returns n with the place of the argument in every part.
func moved(n *node, at Pos) *node {
	c := *n
	c.pos, c.shift = at, -1
	c.items, c.keys = nil, nil
	for _, item := range n.items {
		c.items = append(c.items, moved(item, at))
	}
	for _, e := range n.keys {
		c.keys = append(c.keys, entry{e.name, at, moved(e.value, at)})
	}
	return &c
}

func clip(s string) string {
	s = oneLine(s)
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
