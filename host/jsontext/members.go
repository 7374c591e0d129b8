package jsontext

import (
	"bytes"
	"encoding/json"
)

// Members calls f for each member of a JSON object, in order; the value is JSON on one line if the
// object is. Other values have no members.
func Members(object []byte, f func(name string, value []byte)) {
	if len(object) == 0 {
		return // most results have none
	}
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return
	}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return
		}
		f(name, value)
	}
}
