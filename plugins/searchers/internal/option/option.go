// Package option has what searchers' options have in common.
package option

import (
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Simple is the schema of a searcher with no option but whether points may repeat.
const Simple = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "repeats": {
      "type": "boolean",
      "default": false,
      "description": "Whether a point of a finite space may be suggested again."
    }
  }
}`

// Repeats reads what [Simple] describes.
func Repeats(text []byte) (bool, error) {
	var o struct {
		Repeats bool `json:"repeats"`
	}
	err := sdk.ReadOptions(text, &o)
	return o.Repeats, err
}

// In is an error when the option's number is out of its range.
func In(name string, value, low, high float64) error {
	if low <= value && value <= high {
		return nil
	}
	return fmt.Errorf("option %q is %v; allowed: numbers from %v to %v", name, value, low, high)
}
