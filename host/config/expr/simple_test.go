package expr

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzFromJSON compares what FromJSON reads with what the decoder of the standard library reads.
func FuzzFromJSON(f *testing.F) {
	for _, text := range []string{`{"lr":0.1,"units":64,"opt":"adam","on":true,"none":null}`, `[1,-2.5e-3,[],{}]`,
		`{"a":{"b":[1,"x"]}}`, `01`, `-`, `1.`, `1e`, `{"a":1,"a":2}`, `{"a\u0041":"\n"}`, `"\u00e9"`, `-0`, `1e999`,
		`9223372036854775808`, ` { "a" : 1 } `, `{"a":1}x`, `[1,]`, `{"a"}`, `tru`, `nullx`, ``} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, failed := FromJSON(text)
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var want any
		err := d.Decode(&want)
		if err == nil {
			want, err = Normal(want)
		}
		if (failed == nil) != (err == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %#v, %v, want %#v, %v", text, got, failed, want, err)
		}
	})
}
