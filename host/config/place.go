package config

import (
	"path/filepath"
	"slices"
	"strings"
)

// Place says where the directory of an experiment was when the experiment began, and where it is now: it was renamed,
// moved or copied since. The zero value: it is where it was.
type Place struct{ From, To string }

// Here returns where a path is now: those in the directory have moved with it.
func (p Place) Here(path string) string {
	if p.From == "" {
		return path
	}
	if rel, err := filepath.Rel(p.From, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(rel) {
		return filepath.Join(p.To, rel)
	}
	return path
}

// There is the reverse of Here: where a path was when the experiment began.
func (p Place) There(path string) string { return Place{p.To, p.From}.Here(path) }

// Moved reads the file of an experiment whose directory is not where it began: paths in that directory lead to where
// they are now.
func Moved(p Place) Option {
	return func(s *settings) { s.place = p }
}

// stays are the keys that have no paths in the experiment's directory, or say where it began.
var stays = []string{"name", "storage", "space", "points", "objective", "objectives", "constraints"}

// file returns the tree of a file with the paths as they are now.
func (p Place) file(root *node) *node {
	if p.From == "" || root.kind != mapKind {
		return root
	}
	c := *root
	c.keys = slices.Clone(root.keys)
	for i, e := range c.keys {
		if !slices.Contains(stays, e.name) {
			c.keys[i].value = p.value(e.value)
		}
	}
	return &c
}

func (p Place) value(n *node) *node {
	if n.kind == textKind && strings.HasPrefix(n.text, p.From) {
		c := *n
		c.text, c.shift = p.Here(n.text), -1
		return &c
	}
	if len(n.items) == 0 && len(n.keys) == 0 {
		return n
	}
	c := *n // aliases share nodes
	c.items, c.keys = slices.Clone(n.items), slices.Clone(n.keys)
	for i, item := range c.items {
		c.items[i] = p.value(item)
	}
	for i, e := range c.keys {
		c.keys[i].value = p.value(e.value)
	}
	return &c
}
