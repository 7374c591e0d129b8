package config

import (
	"bytes"
	"encoding/json"
	"testing"
)

// Parameters are written as encoding/json writes nested objects, for all names and texts.
func TestNestedJSON(t *testing.T) {
	got, err := nestedJSON(map[string]any{
		"b": int64(-3), "a-b": "<&>\u2028", "a/c": true, "a/-": nil, "a/b/z": "quote \" and \\", "a/b/ä": "plain",
		"a/b-": []any{int64(1), 2.0}, "a0": map[string]any{"y": 1.0, "x": "\x7f\xff"},
		"z/y/x": "",
	})
	want := map[string]any{
		"b": -3, "a-b": "<&>\u2028", "a0": map[string]any{"y": json.RawMessage("1.0"), "x": "\x7f\xff"},
		"a": map[string]any{"c": true, "-": nil, "b": map[string]any{"z": "quote \" and \\", "ä": "plain"},
			"b-": []any{1, json.RawMessage("2.0")}},
		"z": map[string]any{"y": map[string]any{"x": ""}},
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if encErr := enc.Encode(want); err != nil || encErr != nil || string(got)+"\n" != b.String() {
		t.Errorf("%s %v, want %s %v", got, err, b.String(), encErr)
	}
	if got, err = nestedJSON(nil); string(got) != "{}" || err != nil {
		t.Errorf("%s %v", got, err)
	}
}
