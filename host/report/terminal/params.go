package terminal

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/storage/naming"
)

// param is one parameter; names of nested ones have slashes. text loses nothing, brief has room in a table.
type param struct{ name, text, brief string }

// maxParams limits how many parameters of one trial are read.
const maxParams = 200

// readParams flattens a JSON object, in its order. For invalid JSON it returns what comes before the
// error. told tells choices apart that look alike.
func readParams(object []byte, told naming.Tellers) []param {
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	return appendObject(nil, d, "", told)
}

// appendObject reads an object after its opening brace.
func appendObject(list []param, d *json.Decoder, prefix string, told naming.Tellers) []param {
	for d.More() && len(list) < maxParams {
		key, err := d.Token()
		if err != nil {
			return list
		}
		name := prefix + clean(key.(string))
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return list
		}
		list = appendValue(list, name, value, told)
	}
	return list
}

func appendValue(list []param, name string, value json.RawMessage, told naming.Tellers) []param {
	if tell := told[name]; tell != nil {
		return append(list, chosen(name, value, tell))
	}
	if value[0] != '{' {
		text := valueText(value)
		return append(list, param{name, text, short(text)})
	}
	d := json.NewDecoder(bytes.NewReader(value))
	_, _ = d.Token()
	return appendObject(list, d, name+"/", told)
}

// chosen is one of several choices, in the words of other tables.
func chosen(name string, value json.RawMessage, tell func(v any) string) param {
	x := param{name: name, text: valueText(value)}
	v, err := expr.FromJSON(value)
	if x.brief = clean(tell(v)); err != nil {
		x.brief = x.text
	}
	if value[0] == '"' {
		x.text = x.brief
	}
	return x
}

// valueText writes a value as a user would: strings without quotes.
func valueText(value json.RawMessage) string {
	var s string
	if value[0] == '"' && json.Unmarshal(value, &s) == nil {
		return clean(s)
	}
	return clean(string(value))
}

// short rounds numbers for the table.
func short(text string) string {
	if x, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
		return number(x, 4)
	}
	return text
}

// varied remembers which parameters have differed between trials, so that a column stays once it
// appears.
type varied struct {
	told  naming.Tellers    // of the choices
	names []string          // in the order of appearance
	first map[string]string // the first value of each
	vary  map[string]bool
}

// look reads the trials of a table, each with its parameters.
func (v *varied) look(rows [][]param) {
	if v.first == nil {
		v.first, v.vary = map[string]string{}, map[string]bool{}
	}
	count := map[string]int{}
	for _, params := range rows {
		for _, p := range params {
			count[p.name]++
			if first, ok := v.first[p.name]; !ok && len(v.names) < maxParams {
				v.names = append(v.names, p.name)
				v.first[p.name] = p.text
			} else if ok && first != p.text {
				v.vary[p.name] = true
			}
		}
	}
	for name, n := range count {
		if n < len(rows) {
			v.vary[name] = true
		}
	}
}

// columns returns the parameters to show: those that vary, or all while none does.
func (v *varied) columns() []string {
	if len(v.vary) == 0 {
		return v.names
	}
	return slices.DeleteFunc(slices.Clone(v.names), func(name string) bool { return !v.vary[name] })
}

// shown reports whether the parameter has a column, or would have one.
func (v *varied) shown(name string) bool { return len(v.vary) == 0 || v.vary[name] }

func paramText(params []param) string {
	var parts []string
	for _, p := range params {
		parts = append(parts, p.name+"="+p.brief)
	}
	return strings.Join(parts, " ")
}
