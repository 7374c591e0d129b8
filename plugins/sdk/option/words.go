package option

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Row describes an option in a table.
type Row struct {
	// Name of the option; policy.N.iteration is a key of the maps in the list policy.
	Name string
	// Value describes the allowed values: "a whole number from 1".
	Value string
	// Default is JSON, "" if the option has none, or Required.
	Default string
	// Doc is the description of the option.
	Doc string
}

// Required is the default of options that users must set.
const Required = "required"

// Rows returns the options of a JSON Schema, of a plugin in any language. It ignores parts of the
// schema that declarations do not use.
func Rows(text []byte) ([]Row, error) {
	var s schema
	if len(text) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	return s.rows(""), nil
}

// rows returns the rows of the schema's properties and of their contents.
func (s *schema) rows(path string) (list []Row) {
	for _, p := range s.Properties {
		name := below(path, p.name)
		r := Row{Name: name, Value: p.of.words(), Default: string(compact(p.of.Default)), Doc: p.of.Description}
		if slices.Contains(s.Required, p.name) {
			r.Default = Required
		}
		list = append(list, r)
		list = append(list, p.of.inner(name)...)
	}
	return list
}

// inner returns the rows of the contents of a value.
func (s *schema) inner(path string) []Row {
	list := s.rows(path)
	if s.Items != nil {
		list = append(list, s.Items.inner(below(path, "N"))...)
	}
	for _, one := range s.OneOf {
		list = append(list, one.inner(path)...)
	}
	return list
}

// Words describes the values of a JSON Schema: "a whole number from 1 to 10".
func Words(text []byte) string {
	var s schema
	if json.Unmarshal(text, &s) != nil {
		return "anything"
	}
	return s.words()
}

func (s *schema) words() string {
	var all []string
	for _, t := range s.Type {
		all = append(all, s.typeWords(t))
	}
	for _, value := range s.Enum {
		all = append(all, cmp.Or(strings.Trim(string(value), `"`), `""`))
	}
	for _, one := range s.OneOf {
		all = append(all, one.words())
	}
	if len(all) == 0 {
		return "anything"
	}
	return or(all)
}

// or joins words to a phrase.
func or(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func (s *schema) typeWords(name string) string {
	switch name {
	case "integer":
		return "a whole number" + s.bounds(MaxInt)
	case "number":
		return "a number" + s.bounds(math.Inf(1))
	case "boolean":
		return "true or false"
	case "string":
		if s.MinLength != nil && *s.MinLength > 0 {
			return "a text that is not empty"
		}
		return "a text"
	case "array":
		return "a list" + s.size() + each("item", s.Items)
	case "object":
		return "a map" + s.keys()
	}
	return name
}

// bounds describes the bounds of numbers. Bounds of limit and beyond are omitted.
func (s *schema) bounds(limit float64) string {
	var words []string
	add := func(word string, x *float64) {
		if x != nil && math.Abs(*x) < limit {
			words = append(words, word+" "+digits(*x))
		}
	}
	add("from", s.Minimum)
	add("above", s.ExclusiveMinimum)
	if s.Minimum != nil && len(words) == 1 {
		add("to", s.Maximum)
	} else {
		add("at most", s.Maximum)
	}
	add("below", s.ExclusiveMaximum)
	if len(words) == 0 {
		return ""
	}
	if len(words) == 2 && !strings.HasPrefix(words[1], "to ") {
		return " " + words[0] + " and " + words[1]
	}
	return " " + strings.Join(words, " ")
}

// digits writes a number without an exponent if that is shorter to read.
func digits(x float64) string {
	if size := math.Abs(x); size > MaxInt || size != 0 && size < 1e-6 {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

func (s *schema) size() string {
	switch least, most := value(s.MinItems), value(s.MaxItems); {
	case most > 0:
		return fmt.Sprintf(" of %d to %d", least, most)
	case least == 1:
		return " that is not empty"
	case least > 1:
		return fmt.Sprintf(" of at least %d", least)
	}
	return ""
}

func value(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func each(what string, of *schema) string {
	if of == nil {
		return ""
	}
	return ", each " + what + " " + of.words()
}

func (s *schema) keys() string {
	switch {
	case len(s.Properties) > 0:
		var names []string
		for _, p := range s.Properties {
			names = append(names, p.name)
		}
		return " of " + strings.Join(names, ", ")
	case s.Extra != nil:
		return each("value", s.Extra.of)
	}
	return ""
}
