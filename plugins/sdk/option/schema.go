package option

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// schema is the part of JSON Schema that options use.
type schema struct {
	Dialect          string            `json:"$schema,omitempty"`
	Type             kinds             `json:"type,omitempty"`
	Enum             []json.RawMessage `json:"enum,omitempty"`
	OneOf            []*schema         `json:"oneOf,omitempty"`
	MinLength        *int              `json:"minLength,omitempty"`
	Minimum          *float64          `json:"minimum,omitempty"`
	ExclusiveMinimum *float64          `json:"exclusiveMinimum,omitempty"`
	Maximum          *float64          `json:"maximum,omitempty"`
	ExclusiveMaximum *float64          `json:"exclusiveMaximum,omitempty"`
	MinItems         *int              `json:"minItems,omitempty"`
	MaxItems         *int              `json:"maxItems,omitempty"`
	Items            *schema           `json:"items,omitempty"`
	Extra            *extra            `json:"additionalProperties,omitempty"`
	Required         []string          `json:"required,omitempty"`
	Properties       properties        `json:"properties,omitzero"`
	Default          json.RawMessage   `json:"default,omitempty"`
	Description      string            `json:"description,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler. true and false are valid schemas without any
// information.
func (s *schema) UnmarshalJSON(text []byte) error {
	if kindOf(text) == "boolean" {
		return nil
	}
	type plain schema
	return json.Unmarshal(text, (*plain)(s))
}

// objectSchema returns the schema of a map with exactly these options.
func objectSchema(options []Option) schema {
	s := schema{Type: kinds{"object"}, Extra: &extra{}, Properties: make(properties, 0, len(options))}
	for i, o := range options {
		if slices.ContainsFunc(options[:i], func(other Option) bool { return other.name == o.name }) {
			panic(fmt.Sprintf("option: %q is declared twice", o.name))
		}
		of := o.describe()
		if o.required {
			of.Default = nil
			s.Required = append(s.Required, o.name)
		}
		s.Properties = append(s.Properties, property{o.name, &of})
	}
	return s
}

// orNull returns the schema of these values and null.
func (s schema) orNull() schema {
	switch {
	case len(s.Enum) > 0:
		s.Enum = append(slices.Clone(s.Enum), json.RawMessage("null"))
	case len(s.OneOf) > 0:
		s.OneOf = append(slices.Clone(s.OneOf), &schema{Type: kinds{"null"}})
	default:
		s.Type = append(slices.Clone(s.Type), "null")
	}
	return s
}

func (s *schema) isInteger() bool { return len(s.Type) == 1 && s.Type[0] == "integer" }

// kinds returns the types of the values, as [kindOf] names them.
func (s *schema) kinds() (all []string) {
	for _, t := range s.Type {
		if t == "integer" {
			t = "number"
		}
		all = append(all, t)
	}
	for _, value := range s.Enum {
		all = append(all, kindOf(value))
	}
	for _, one := range s.OneOf {
		all = append(all, one.kinds()...)
	}
	return all
}

// kinds is one name of a type, or a list.
type kinds []string

// MarshalJSON implements json.Marshaler.
func (k kinds) MarshalJSON() ([]byte, error) {
	if len(k) == 1 {
		return json.Marshal(k[0])
	}
	return json.Marshal([]string(k))
}

// UnmarshalJSON implements json.Unmarshaler.
func (k *kinds) UnmarshalJSON(text []byte) error {
	if kindOf(text) == "array" {
		return json.Unmarshal(text, (*[]string)(k))
	}
	*k = kinds{""}
	return json.Unmarshal(text, &(*k)[0])
}

// extra is the schema of additional properties; nil: none are allowed.
type extra struct{ of *schema }

// MarshalJSON implements json.Marshaler.
func (e extra) MarshalJSON() ([]byte, error) {
	if e.of == nil {
		return []byte("false"), nil
	}
	return encode(e.of), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *extra) UnmarshalJSON(text []byte) error {
	if string(text) == "false" {
		return nil
	}
	e.of = &schema{}
	if kindOf(text) == "boolean" {
		return nil
	}
	return json.Unmarshal(text, e.of)
}

type property struct {
	name string
	of   *schema
}

// properties keep their order.
type properties []property

// MarshalJSON implements json.Marshaler.
func (ps properties) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, p := range ps {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, encode(p.name)...)
		out = append(out, ':')
		out = append(out, encode(p.of)...)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (ps *properties) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		p := property{of: &schema{}}
		p.name, _ = name.(string)
		var text json.RawMessage
		if err := d.Decode(&text); err != nil {
			return err
		}
		if json.Unmarshal(text, p.of) != nil {
			p.of = beyond(text)
		}
		*ps = append(*ps, p)
	}
	return nil
}

// beyond returns a schema of which only what it says of itself is known: it has forms that options do not use, such as
// a list of schemas as items.
func beyond(text []byte) *schema {
	var known struct {
		Default     json.RawMessage `json:"default"`
		Description json.RawMessage `json:"description"`
	}
	s := &schema{}
	if json.Unmarshal(text, &known) == nil {
		s.Default = known.Default
		_ = json.Unmarshal(known.Description, &s.Description) // a text, or nothing is known of it
	}
	return s
}

// encode returns compact JSON. v must be encodable.
func encode(v any) json.RawMessage { return appendValue(nil, v) }

// encoded is encode by encoding/json.
func encoded(v any) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("option: a default is not valid JSON: " + err.Error())
	}
	return bytes.TrimSpace(out.Bytes())
}

func compact(text json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return text
	}
	return out.Bytes()
}
