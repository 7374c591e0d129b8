// Package option reads the options of a bundled scheduler.
package option

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Decode reads the JSON object data over the defaults that are in into. Unknown
// options, wrong types and anything after the object are errors of one line.
// No data at all leaves the defaults.
func Decode(data []byte, into any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return explain(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("options: one JSON object is expected, something follows it")
	}
	return nil
}

func explain(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Errorf("option %q: got a %s, want %s", wrong.Field, wrong.Value, kind(wrong.Type.Kind().String()))
	}
	return fmt.Errorf("options: %s", strings.TrimPrefix(err.Error(), "json: "))
}

func kind(name string) string {
	switch {
	case strings.HasPrefix(name, "uint"):
		return "a whole number, not negative"
	case strings.HasPrefix(name, "int"):
		return "a whole number"
	case strings.HasPrefix(name, "float"):
		return "a number"
	case name == "bool":
		return "true or false"
	case name == "slice":
		return "a list"
	}
	return "a " + name
}
