package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ReadOptions reads a plugin's options, a JSON object, over the defaults that into
// (a pointer to a struct with json tags) holds. Nothing at all and null are an
// empty object. Options that into does not have and values of a wrong type are
// errors, one line each.
func ReadOptions(options []byte, into any) error {
	if len(bytes.TrimSpace(options)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(options))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return optionError(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("options: there is something after the JSON object")
	}
	return nil
}

func optionError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Errorf("option %q is a %s; expected %s", wrong.Field, wrong.Value, wrong.Type)
	}
	return fmt.Errorf("options: %w", err)
}
