package config

import (
	"bytes"
	"slices"
	"strings"
)

// Effect says what a changed key does when an experiment resumes (B-083).
type Effect uint8

const (
	// Taken means that the new value holds from now on.
	Taken Effect = iota
	// Ignored means that the recorded value stays.
	Ignored
	// Different means that the file describes another experiment.
	Different
)

func (e Effect) String() string { return [...]string{"taken", "ignored", "different"}[e] }

// Change is a key that differs between two files.
type Change struct {
	// Key is a path of names joined with dots.
	Key string
	// Old and New are JSON, nil where the key is missing.
	Old, New []byte
	Effect   Effect
	// Pos is the place of the new value, in the new file or in a command-line argument. For a removed key
	// it is the map that had it, or the new file.
	Pos Pos
}

// Canonical returns the experiment as JSON with defaults filled in and one spelling for each value.
// Files that mean the same give the same bytes. The order of parameters counts, since searchers see
// it.
func (e *Experiment) Canonical() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range sortedKeyNames() {
		if i > 0 {
			b.WriteByte(',')
		}
		writeText(&b, name)
		b.WriteByte(':')
		if n := e.canonical(name); n != nil {
			b.Write(canonicalJSON(name, n))
		} else {
			b.WriteString("null")
		}
	}
	b.WriteByte('}')
	return b.Bytes()
}

func canonicalJSON(key string, n *node) []byte {
	if key == "space" || strings.HasPrefix(key, "space.") {
		return n.json()
	}
	return n.sortedJSON()
}

func sortedKeyNames() []string {
	names := keyNames(experiment.keys)
	slices.Sort(names)
	return names
}

// canonical returns one key, or its default, in its one spelling; nil where there is neither.
func (e *Experiment) canonical(name string) *node {
	k := experiment.keys[slices.IndexFunc(experiment.keys, func(k key) bool { return k.name == name })]
	n := e.tree.get(name)
	switch {
	case n == nil && name == "name":
		n = &node{kind: textKind, text: e.Name}
	case n == nil && name == "resources" && e.tree.has("placement"):
		return nil
	case n == nil:
		n = unwritten(name, e.reading)
	}
	if n == nil {
		return nil
	}
	n = k.shape.canon(n)
	if o, ok := k.shape.(*object); ok && n.kind == mapKind {
		if n = withDefaults(o, n); len(n.keys) == 0 && unwritten(name, e.reading) == nil {
			return nil // nothing is given: it is as if the key were not there
		}
	}
	return n
}

func withDefaults(o *object, n *node) *node {
	c := *n
	c.keys = slices.Clone(n.keys)
	for _, k := range o.keys {
		if d := defaultOf(k); d != nil && !c.has(k.name) {
			c.keys = append(c.keys, entry{k.name, d.pos, k.shape.canon(d)})
		}
	}
	return &c
}

// Diff lists what changed, in the order of the key table; maps are compared key by key. A seed that
// the new file omits is no change, and neither is a searcher that both omit.
func Diff(old, now *Experiment) []Change {
	var changes []Change
	for _, k := range experiment.keys {
		a, b := old.canonical(k.name), now.canonical(k.name)
		if k.name == "seed" && (a == nil || b == nil) || k.name == "searcher" && !old.Has(k.name) && !now.Has(k.name) {
			continue
		}
		changes = append(changes, compare(k.name, a, b, k.resume, Pos{File: now.File})...)
	}
	return changes
}

func compare(path string, a, b *node, effect Effect, otherwise Pos) []Change {
	old, now := jsonOrNil(path, a), jsonOrNil(path, b)
	if bytes.Equal(old, now) {
		return nil
	}
	if path == "stop.plugin" {
		effect = Ignored // it acts as a scheduler
	}
	at := otherwise
	if b != nil && b.pos.written() {
		at = b.pos
	}
	if !divided(path, a, b) {
		return []Change{{path, old, now, effect, argument(b, at)}}
	}
	var changes []Change
	for _, name := range union(a.names(), b.names()) {
		changes = append(changes, compare(path+"."+name, a.get(name), b.get(name), effect, at)...)
	}
	if len(changes) == 0 { // only the order of parameters differs
		return []Change{{path, old, now, effect, argument(b, at)}}
	}
	return changes
}

// divided reports whether two values are compared name by name: the maps of the file, and groups of the space that have
// the same members.
func divided(path string, a, b *node) bool {
	switch {
	case a == nil || b == nil || a.kind != mapKind || b.kind != mapKind:
		return false
	case !strings.Contains(path, "."):
		return true
	}
	return strings.HasPrefix(path, "space.") && isGroup(a) && isGroup(b) && slices.Equal(a.names(), b.names())
}

// isGroup reports whether a map of the space has parameters, each of which a path of names leads to.
func isGroup(n *node) bool {
	return len(n.keys) > 0 && formOf(n) == "" && !n.has("value") &&
		!slices.ContainsFunc(n.names(), func(name string) bool { return strings.Contains(name, ".") })
}

// argument is the place of the first part of a value that a command-line argument gave, or otherwise.
func argument(n *node, otherwise Pos) Pos {
	if n == nil || !otherwise.InFile() {
		return otherwise
	}
	for _, e := range n.keys {
		if at := argument(e.value, e.value.pos); !at.InFile() {
			return at
		}
	}
	return otherwise
}

func jsonOrNil(path string, n *node) []byte {
	if n == nil {
		return nil
	}
	return canonicalJSON(path, n)
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(a, name) {
			out = append(out, name)
		}
	}
	return out
}

// Key returns a key of the file, a path as in [Change], as JSON in its one spelling, or its default, or nil
// where there is neither.
func (e *Experiment) Key(path string) []byte {
	name, part, within := strings.Cut(path, ".")
	n := e.canonical(name)
	for within && n != nil && name == "space" && !n.has(part) { // a member of a group
		var group string
		group, part, within = strings.Cut(part, ".")
		n = n.get(group)
	}
	if within && n != nil {
		n = n.get(part)
	}
	return jsonOrNil(path, n)
}

// OtherExecutor reports whether now runs trials on another executor than old, or with other options of
// it, and where it says so. The host's own keys among them do not matter.
func OtherExecutor(old, now *Experiment) (at Pos, other bool) {
	for _, c := range Diff(old, now) {
		key, option, _ := strings.Cut(c.Key, ".")
		if key == "executor" && !isHostKey(option) {
			return c.Pos, true
		}
	}
	return at, false
}

func isHostKey(name string) bool {
	for _, k := range hostKeys {
		if k.name == name {
			return true
		}
	}
	return false
}

// Same reports whether a key, a path as in [Change], means the same in both.
func Same(old, now *Experiment, key string) bool {
	return !slices.ContainsFunc(Diff(old, now), func(c Change) bool {
		return c.Key == key || strings.HasPrefix(c.Key, key+".") || strings.HasPrefix(key, c.Key+".")
	})
}
