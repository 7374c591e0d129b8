package jsontext

import (
	"bytes"
	"encoding/json"
	"math"
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

// walker goes through a JSON value and knows the place of what it has read.
type walker struct{ in []*level }

// Twice returns the place of the first name that a JSON value gives twice in one object, such as params.lr or
// runs[2].seed; ok is false if there is none, or if the text is no JSON. Readers of JSON take either of the two
// values.
func Twice(text []byte) (place string, ok bool) {
	return find(text, func(_ json.Token, twice bool) bool { return twice })
}

// maxNumber is how much of a number is told back.
const maxNumber = 40

// TooLarge returns the place and the beginning of the first number in a JSON value that is beyond those of a float64,
// such as 1e999; ok is false if there is none, or if the text is no JSON. Some readers of JSON take it for infinite.
func TooLarge(text []byte) (place, number string, ok bool) {
	place, ok = find(text, func(t json.Token, _ bool) bool {
		n, isNumber := t.(json.Number)
		if !isNumber {
			return false
		}
		x, _ := strconv.ParseFloat(string(n), 64)
		number = string(n)
		return math.IsInf(x, 0)
	})
	if len(number) > maxNumber {
		number = number[:maxNumber] + "…"
	}
	return place, number, ok
}

// find returns the place of the first token that is wanted. twice says that it is a name which its object has given
// before.
func find(text []byte, wanted func(t json.Token, twice bool) bool) (place string, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var w walker
	for {
		t, err := d.Token()
		if err != nil {
			return "", false
		}
		if wanted(t, w.pass(t)) {
			return placeOf(w.in), true
		}
	}
}

// pass takes the next token.
func (w *walker) pass(t json.Token) (twice bool) {
	var at *level
	if len(w.in) > 0 {
		at = w.in[len(w.in)-1]
	}
	name, isText := t.(string)
	switch {
	case t == json.Delim('}') || t == json.Delim(']'):
		w.in = w.in[:len(w.in)-1]
		return false
	case at != nil && at.names != nil && !at.value && isText:
		at.name, at.value = name, true
		twice = at.names[name]
		at.names[name] = true
		return twice
	case at != nil:
		at.value = false
		at.items++
	}
	switch t {
	case json.Delim('{'):
		w.in = append(w.in, &level{names: map[string]bool{}})
	case json.Delim('['):
		w.in = append(w.in, &level{})
	}
	return false
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
