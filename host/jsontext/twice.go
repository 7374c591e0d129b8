package jsontext

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// level is an object or a list in which a reader is.
type level struct {
	names map[string]bool // nil: it is a list
	name  string
	// value says that the next token is the value of name.
	value bool
	items int
}

// Twice returns the place of the first name that a JSON value gives twice in one object, such as params.lr or
// runs[2].seed; ok is false if there is none, or if the text is no JSON. Readers of JSON take either of the two
// values.
func Twice(text []byte) (place string, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var in []*level
	for {
		t, err := d.Token()
		if err != nil {
			return "", false
		}
		var at *level
		if len(in) > 0 {
			at = in[len(in)-1]
		}
		name, isText := t.(string)
		switch {
		case t == json.Delim('}') || t == json.Delim(']'):
			in = in[:len(in)-1]
			continue
		case at != nil && at.names != nil && !at.value && isText:
			at.name, at.value = name, true
			if at.names[name] {
				return placeOf(in), true
			}
			at.names[name] = true
			continue
		case at != nil:
			at.value = false
			at.items++
		}
		switch t {
		case json.Delim('{'):
			in = append(in, &level{names: map[string]bool{}})
		case json.Delim('['):
			in = append(in, &level{})
		}
	}
}

// placeOf names the member that was read last.
func placeOf(in []*level) string {
	var b []byte
	for i, x := range in {
		switch {
		case x.names == nil:
			b = append(strconv.AppendInt(append(b, '['), int64(x.items-1), 10), ']')
		case i > 0:
			b = append(append(b, '.'), x.name...)
		default:
			b = append(b, x.name...)
		}
	}
	return string(b)
}
