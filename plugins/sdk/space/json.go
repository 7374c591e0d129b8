package space

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Decode writes the parameters of p as a JSON object, in their order. Parts of a name become nested
// objects. Integers have no point; reals always have one or an exponent (a 1 would be an integer in
// many languages) and are read back to the same bits; choices are written as in the space. It
// returns the errors of [Space.Check], except that values may be missing.
func (s *Space) Decode(p Point) ([]byte, error) {
	if err := s.CheckGiven(p); err != nil {
		return nil, err
	}
	root := &object{}
	for i, x := range p {
		if !math.IsNaN(x) {
			root.put(s.Params[i].Name, s.Params[i].appendValue(nil, x))
		}
	}
	return root.append(nil), nil
}

// appendValue appends x, a value of p, as JSON.
func (p *Param) appendValue(b []byte, x float64) []byte {
	switch p.Kind {
	case Choice, Ordinal:
		return append(b, p.Choices[int(math.Round(x))]...)
	case Int:
		return strconv.AppendInt(b, int64(math.Round(x)), 10)
	}
	format := byte('f')
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	start := len(b)
	b = strconv.AppendFloat(b, x, format, -1, 64)
	if !bytes.ContainsAny(b[start:], ".e") {
		b = append(b, ".0"...)
	}
	return b
}

// An object is a JSON object that keeps the order of its members.
type object struct {
	keys   []string
	values [][]byte  // of plain members
	groups []*object // of nested objects, else nil
}

// put adds a member, inside nested objects if the name has parts.
func (o *object) put(name string, value []byte) {
	group, rest, nested := strings.Cut(name, "/")
	if nested {
		o.group(group).put(rest, value)
		return
	}
	o.add(name, value, nil)
}

func (o *object) add(key string, value []byte, group *object) {
	o.keys = append(o.keys, key)
	o.values = append(o.values, value)
	o.groups = append(o.groups, group)
}

// group returns the nested object of that name, created if necessary.
func (o *object) group(name string) *object {
	for i := len(o.keys) - 1; i >= 0; i-- {
		if o.keys[i] == name && o.groups[i] != nil {
			return o.groups[i]
		}
	}
	group := &object{}
	o.add(name, nil, group)
	return group
}

func (o *object) append(b []byte) []byte {
	b = append(b, '{')
	for i, key := range o.keys {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(key) // a string cannot fail
		b = append(append(b, name...), ':')
		if o.groups[i] != nil {
			b = o.groups[i].append(b)
		} else {
			b = append(b, o.values[i]...)
		}
	}
	return append(b, '}')
}

// groups returns the names of the nested objects of parameters.
func (s *Space) groups() map[string]bool {
	groups := map[string]bool{}
	for i := range s.Params {
		name := s.Params[i].Name
		for at := strings.LastIndexByte(name, '/'); at >= 0; at = strings.LastIndexByte(name, '/') {
			name = name[:at]
			groups[name] = true
		}
	}
	return groups
}

// Encode reads a JSON object into a point. Missing parameters are NaN, so the point may be partial;
// complete or check it. Nested names may be nested objects or written with "/". Errors are one line
// and name the parameter: unknown (with the nearest known name), duplicate, of a wrong type, or
// outside the space (for choices with the nearest one).
func (s *Space) Encode(text []byte) (Point, error) {
	r := reader{space: s, groups: s.groups(), index: map[string]int{}, json: json.NewDecoder(bytes.NewReader(text))}
	for i := range s.Params {
		r.index[s.Params[i].Name] = i
		r.point = append(r.point, math.NaN())
	}
	if err := r.object(""); err != nil {
		return nil, err
	}
	if _, err := r.json.Token(); err != io.EOF {
		return nil, errors.New("parameters: there is something after the JSON object")
	}
	return r.point, nil
}

// A reader reads one object.
type reader struct {
	space  *Space
	groups map[string]bool
	index  map[string]int
	json   *json.Decoder
	point  Point
}

// object reads a nested object, or the outer one if group is "".
func (r *reader) object(group string) error {
	start, err := r.json.Token()
	if err != nil {
		return malformed(err)
	}
	if start != json.Delim('{') {
		return fmt.Errorf("%s: expected a JSON object", strings.TrimSuffix("parameters "+strconv.Quote(group), ` ""`))
	}
	for r.json.More() {
		key, err := r.json.Token()
		if err != nil {
			return malformed(err)
		}
		if err := r.member(join(group, key.(string))); err != nil {
			return err
		}
	}
	if _, err = r.json.Token(); err != nil {
		return malformed(err)
	}
	return nil
}

func (r *reader) member(name string) error {
	i, known := r.index[name]
	if r.groups[name] {
		return r.object(name)
	}
	if !known {
		return fmt.Errorf("parameter %q is unknown%s", head(name), r.nearest(name))
	}
	var raw json.RawMessage
	if err := r.json.Decode(&raw); err != nil {
		return malformed(err)
	}
	if !math.IsNaN(r.point[i]) {
		return fmt.Errorf("parameter %q is given twice", name)
	}
	x, err := r.space.Params[i].readValue(raw)
	r.point[i] = x
	return err
}

func malformed(err error) error { return fmt.Errorf("parameters: not JSON: %w", err) }

func join(group, name string) string {
	if group == "" {
		return name
	}
	return group + "/" + name
}

// nearest suggests the known name that is nearest to name.
func (r *reader) nearest(name string) string {
	var names []string
	for i := range r.space.Params {
		names = append(names, r.space.Params[i].Name)
	}
	if i := nearestText(name, names); i >= 0 {
		return fmt.Sprintf("; nearest: %q", names[i])
	}
	return ""
}

// nearestText returns the index of the text with the smallest edit distance to text, or -1; long
// texts are compared by their beginning.
func nearestText(text string, texts []string) int {
	best, least := -1, math.MaxInt
	for i, other := range texts {
		if d := levenshtein.ComputeDistance(head(text), head(other)); d < least {
			best, least = i, d
		}
	}
	return best
}

func head(text string) string { return text[:min(len(text), 100)] }

// readValue reads the JSON of one value of p.
func (p *Param) readValue(raw []byte) (float64, error) {
	if p.Kind == Choice || p.Kind == Ordinal {
		return p.readChoice(raw)
	}
	x := jsonNumber(raw)
	if math.IsNaN(x) || p.Kind == Int && beyondInt(raw) || !p.contains(x) {
		return x, fmt.Errorf("parameter %q is %s; allowed: %s", p.Name, excerpt(raw), p.allowed())
	}
	return x, nil
}

// beyondInt reports whether an integer literal is outside ±2^53, where rounding might move it
// inside.
func beyondInt(raw []byte) bool {
	k, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil && (k > maxExact || k < -maxExact)
}

// readChoice finds the choice that is the same JSON: literally, or else with numbers and objects
// compared by value.
func (p *Param) readChoice(raw []byte) (float64, error) {
	for _, form := range []func([]byte) string{compact, meaning} {
		text := form(raw)
		for i, choice := range p.Choices {
			if form(choice) == text {
				return float64(i), nil
			}
		}
	}
	return 0, fmt.Errorf("parameter %q is %s; allowed: %s; nearest: %s", p.Name, excerpt(raw), p.list(),
		excerpt(p.Choices[p.nearestChoice(raw)]))
}

// nearestChoice returns the choice nearest to raw: by value for numbers, else by edit distance.
func (p *Param) nearestChoice(raw []byte) int {
	best, least := -1, math.Inf(1)
	texts := make([]string, len(p.Choices))
	for i, choice := range p.Choices {
		texts[i] = compact(choice)
		if d := math.Abs(jsonNumber(choice) - jsonNumber(raw)); d < least {
			best, least = i, d
		}
	}
	if best >= 0 {
		return best
	}
	return nearestText(compact(raw), texts)
}

// compact returns JSON without white space.
func compact(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// meaning returns JSON in which equal values are equal texts: numbers as float64, keys sorted.
func meaning(raw []byte) string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return compact(raw)
	}
	text, _ := json.Marshal(value) // what was JSON can be JSON again
	return string(text)
}
