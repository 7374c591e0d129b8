package config

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

type kind uint8

const (
	nullKind kind = iota
	boolKind
	numberKind
	textKind
	listKind
	mapKind
)

// node is one value of a file, with its place. Aliases are expanded, so that several parents may share
// a node; after parsing only --set changes nodes.
type node struct {
	kind kind
	pos  Pos
	// text is the text of a scalar; numbers are exactly as written.
	text string
	// shift is how many columns after pos the text starts (quotes), or -1 where columns of the text do not
	// match columns of the file.
	shift int
	items []*node
	keys  []entry
}

// entry is one key of a map.
type entry struct {
	name  string
	pos   Pos
	value *node
}

func (n *node) get(name string) *node {
	if n == nil || n.kind != mapKind {
		return nil
	}
	for _, e := range n.keys {
		if e.name == name {
			return e.value
		}
	}
	return nil
}

// without returns a map without one of its keys, and anything else as it is.
func (n *node) without(name string) *node {
	if !n.has(name) {
		return n
	}
	c := *n
	c.keys = slices.DeleteFunc(slices.Clone(n.keys), func(e entry) bool { return e.name == name })
	return &c
}

func (n *node) has(name string) bool { return n.get(name) != nil }

func (n *node) names() []string {
	var names []string
	for _, e := range n.keys {
		names = append(names, e.name)
	}
	return names
}

// describe names n for messages ("found ...").
func (n *node) describe() string {
	switch n.kind {
	case nullKind:
		return "nothing"
	case boolKind:
		return n.text
	case numberKind:
		return "the number " + n.text
	case textKind:
		return "the text " + quote(n.text)
	case listKind:
		return "a list"
	}
	return "a map"
}

// at returns the place of column col (from 1) of the text of n.
func (n *node) at(col int) Pos {
	p := n.pos
	if p.Line > 0 && n.shift >= 0 {
		p.Column += n.shift + col - 1
	}
	return p
}

// float returns n as a number; it is finite unless n is .inf or .nan.
func (n *node) float() (float64, bool) {
	if n == nil || n.kind != numberKind {
		return 0, false
	}
	switch strings.ToLower(strings.TrimLeft(n.text, "+-")) {
	case ".inf":
		return math.Inf(1 - 2*strings.Count(n.text[:1], "-")), true
	case ".nan":
		return math.NaN(), true
	}
	if i, ok := n.integer(); ok {
		return float64(i), true
	}
	f, err := strconv.ParseFloat(n.text, 64)
	return f, err == nil
}

// integer returns n as an integer; 3.0 and 1e3 are integers too.
func (n *node) integer() (int64, bool) {
	if n == nil || n.kind != numberKind {
		return 0, false
	}
	if i, err := strconv.ParseInt(n.text, 10, 64); err == nil {
		return i, true
	}
	if strings.HasPrefix(n.text, "0x") || strings.HasPrefix(n.text, "0o") {
		i, err := strconv.ParseInt(n.text, 0, 64)
		return i, err == nil
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// isRounded reports whether n is a whole number beyond ±limit that float may have rounded to the limit.
func (n *node) isRounded(limit int64) bool {
	i, ok := n.integer()
	return ok && (i > limit || i < -limit)
}

// json writes n as JSON, with keys in the order of the file. Integers stay exact.
func (n *node) json() []byte {
	var b bytes.Buffer
	n.write(&b, false)
	return b.Bytes()
}

// sortedJSON is json with sorted keys and one spelling of each number.
func (n *node) sortedJSON() []byte {
	var b bytes.Buffer
	n.write(&b, true)
	return b.Bytes()
}

func (n *node) write(b *bytes.Buffer, sorted bool) {
	switch n.kind {
	case nullKind:
		b.WriteString("null")
	case boolKind:
		b.WriteString(n.text)
	case numberKind:
		b.WriteString(n.number(sorted))
	case textKind:
		writeText(b, n.text)
	case listKind:
		n.writeList(b, sorted)
	case mapKind:
		n.writeMap(b, sorted)
	}
}

func (n *node) writeList(b *bytes.Buffer, sorted bool) {
	b.WriteByte('[')
	for i, item := range n.items {
		if i > 0 {
			b.WriteByte(',')
		}
		item.write(b, sorted)
	}
	b.WriteByte(']')
}

func (n *node) writeMap(b *bytes.Buffer, sorted bool) {
	keys := n.keys
	if sorted {
		keys = slices.Clone(keys)
		slices.SortFunc(keys, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	}
	b.WriteByte('{')
	for i, e := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		writeText(b, e.name)
		b.WriteByte(':')
		e.value.write(b, sorted)
	}
	b.WriteByte('}')
}

func writeText(b *bytes.Buffer, s string) {
	var t bytes.Buffer
	e := json.NewEncoder(&t)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	b.Write(bytes.TrimSuffix(t.Bytes(), []byte("\n")))
}

// number writes a number as JSON: as in the file where JSON allows it, infinities and NaN as strings.
func (n *node) number(canonical bool) string {
	if i, err := strconv.ParseInt(n.text, 10, 64); err == nil {
		return strconv.FormatInt(i, 10)
	}
	if !canonical && json.Valid([]byte(n.text)) {
		return n.text
	}
	if i, ok := n.integer(); ok && strings.HasPrefix(n.text, "0") && !strings.ContainsAny(n.text, ".eE") {
		return strconv.FormatInt(i, 10)
	}
	f, _ := n.float()
	return FormatReal(f)
}

// FormatReal writes a real with a point or an exponent, so that every language reads it as a real.
func FormatReal(f float64) string {
	switch {
	case math.IsNaN(f):
		return `"NaN"`
	case math.IsInf(f, 1):
		return `"Infinity"`
	case math.IsInf(f, -1):
		return `"-Infinity"`
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// value converts n to Go values (int64, float64, string, bool, nil, []any, map[string]any).
func (n *node) value() any {
	switch n.kind {
	case boolKind:
		return n.text == "true"
	case numberKind:
		if i, err := strconv.ParseInt(n.number(false), 10, 64); err == nil {
			return i
		}
		f, _ := n.float()
		return f
	case textKind:
		return n.text
	case listKind:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.value()
		}
		return list
	case mapKind:
		m := make(map[string]any, len(n.keys))
		for _, e := range n.keys {
			m[e.name] = e.value.value()
		}
		return m
	}
	return nil
}
