package option

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// A writer writes a schema as indented JSON. Each process makes the schemas of all its plugins when it starts, and
// encoding/json takes three times as long: it reads types at run time, compacts what each MarshalJSON returns and
// indents the whole again.
type writer struct {
	out   []byte
	depth int
	begun bool // the object or list has an entry
}

// text returns the schema as JSON, indented.
func (s *schema) text() []byte {
	w := &writer{out: make([]byte, 0, 1<<10)}
	w.schema(s)
	return w.out
}

// open begins an object or a list, and close ends it.
func (w *writer) open(bracket byte) {
	w.out = append(w.out, bracket)
	w.depth++
	w.begun = false
}

func (w *writer) close(bracket byte) {
	w.depth--
	if w.begun {
		w.line()
	}
	w.out = append(w.out, bracket)
	w.begun = true
}

func (w *writer) line() {
	w.out = append(w.out, '\n')
	for range w.depth {
		w.out = append(w.out, "  "...)
	}
}

// item begins an entry.
func (w *writer) item() {
	if w.begun {
		w.out = append(w.out, ',')
	}
	w.line()
	w.begun = true
}

func (w *writer) key(name string) {
	w.item()
	w.word(name)
	w.out = append(w.out, ": "...)
}

// schema writes the keywords in the order of the fields of type schema.
func (w *writer) schema(s *schema) {
	w.open('{')
	if s.Dialect != "" {
		w.key("$schema")
		w.word(s.Dialect)
	}
	w.kinds(s.Type)
	entries(w, "enum", s.Enum, w.raw)
	entries(w, "oneOf", s.OneOf, w.schema)
	amount(w, "minLength", s.MinLength)
	amount(w, "minimum", s.Minimum)
	amount(w, "exclusiveMinimum", s.ExclusiveMinimum)
	amount(w, "maximum", s.Maximum)
	amount(w, "exclusiveMaximum", s.ExclusiveMaximum)
	amount(w, "minItems", s.MinItems)
	amount(w, "maxItems", s.MaxItems)
	w.inside(s)
	if len(s.Default) > 0 {
		w.key("default")
		w.raw(s.Default)
	}
	if s.Description != "" {
		w.key("description")
		w.word(s.Description)
	}
	w.close('}')
}

func (w *writer) kinds(k kinds) {
	switch {
	case len(k) == 1:
		w.key("type")
		w.word(k[0])
	default:
		entries(w, "type", k, w.word)
	}
}

// inside writes the schemas of what is in a list or a map.
func (w *writer) inside(s *schema) {
	if s.Items != nil {
		w.key("items")
		w.schema(s.Items)
	}
	if s.Extra != nil {
		w.key("additionalProperties")
		if s.Extra.of == nil {
			w.out = append(w.out, "false"...)
		} else {
			w.schema(s.Extra.of)
		}
	}
	entries(w, "required", s.Required, w.word)
	if s.Properties == nil {
		return
	}
	w.key("properties")
	w.open('{')
	for _, p := range s.Properties {
		w.key(p.name)
		w.schema(p.of)
	}
	w.close('}')
}

// entries writes a list, unless it is empty.
func entries[T any](w *writer, key string, all []T, write func(T)) {
	if len(all) == 0 {
		return
	}
	w.key(key)
	w.open('[')
	for _, v := range all {
		w.item()
		write(v)
	}
	w.close(']')
}

func amount[T int | float64](w *writer, key string, n *T) {
	if n != nil {
		w.key(key)
		w.out = appendValue(w.out, *n)
	}
}

func (w *writer) word(text string) { w.out = appendText(w.out, text) }

// raw writes a value that is JSON without spaces.
func (w *writer) raw(text json.RawMessage) {
	if !bytes.ContainsAny(text, "{[") {
		w.out = append(w.out, text...)
		return
	}
	var out bytes.Buffer
	_ = json.Indent(&out, text, strings.Repeat("  ", w.depth), "  ") // it was just encoded
	w.out = append(w.out, out.Bytes()...)
}

// appendValue appends JSON without spaces: by itself what is frequent and simple, the rest by encoding/json.
func appendValue(out []byte, v any) []byte {
	switch x := v.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return strconv.AppendBool(out, x)
	case int:
		return strconv.AppendInt(out, int64(x), 10)
	case uint64:
		return strconv.AppendUint(out, x, 10)
	case float64:
		if size := math.Abs(x); size == 0 && !math.Signbit(x) || size >= 1e-6 && size < 1e21 {
			return strconv.AppendFloat(out, x, 'f', -1, 64)
		}
	case string:
		return appendText(out, x)
	}
	return append(out, encoded(v)...)
}

func appendText(out []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' { // it may need a backslash
			return append(out, encoded(text)...)
		}
	}
	return append(append(append(out, '"'), text...), '"')
}
