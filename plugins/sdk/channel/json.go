package channel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Limits of a report.
const (
	MaxLineBytes = 1 << 20
	MaxDepth     = 64
	MaxMetrics   = sdk.MaxMetrics
	MaxNameBytes = sdk.MaxMetricName
)

// Flatten calls leaf for each value of a JSON object that is not an object itself, in order; names
// of nested values are joined with "/". A value is a float64 (including NaN and infinities, bare or
// as strings), a string, a bool, nil, or an array as json.RawMessage. Objects deeper than MaxDepth
// are an error.
func Flatten(line []byte, leaf func(name string, value any) error) error {
	return flatten(line, leaf, func(string) error { return nil })
}

// flatten is Flatten, and calls object for each key of the outermost object whose value is an object.
func flatten(line []byte, leaf func(name string, value any) error, object func(name string) error) error {
	text := quoteNonFinite(line)
	d := &decoder{json.NewDecoder(bytes.NewReader(text)), text, leaf, object}
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return notObject(err)
	}
	if err := d.flattenObject("", 1); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more after the JSON object")
	}
	return nil
}

// decoder remembers its input, and has the functions of [flatten].
type decoder struct {
	*json.Decoder
	text   []byte
	leaf   func(name string, value any) error
	object func(name string) error
}

func notObject(err error) error {
	if err == nil || err == io.EOF {
		return errors.New("not a JSON object")
	}
	return badJSON(err)
}

// ErrNotJSON is the error for a line that is not JSON. Other errors are for JSON that is no report.
var ErrNotJSON = errors.New("not JSON")

func badJSON(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: the line ends early", ErrNotJSON)
	}
	return fmt.Errorf("%w: %w", ErrNotJSON, err)
}

func (d *decoder) flattenObject(prefix string, depth int) error {
	for {
		t, err := d.Token()
		if err != nil {
			return badJSON(err)
		}
		key, ok := t.(string)
		if !ok {
			return nil // the closing brace
		}
		if err := d.flattenValue(prefix+key, depth); err != nil {
			return err
		}
	}
}

func (d *decoder) flattenValue(name string, depth int) error {
	t, err := d.Token()
	if err != nil {
		return badJSON(err)
	}
	switch t := t.(type) {
	case json.Delim:
		if depth == MaxDepth {
			return fmt.Errorf("nested deeper than %d", MaxDepth)
		}
		if t == '{' {
			// A name of this length cannot be a metric: stop before nesting makes the cost
			// quadratic.
			if len(name) > 2*MaxNameBytes {
				return fmt.Errorf("a name is longer than %d bytes", 2*MaxNameBytes)
			}
			if depth == 1 {
				if err := d.object(name); err != nil {
					return err
				}
			}
			return d.flattenObject(name+"/", depth+1)
		}
		begin := d.InputOffset() - 1
		if err := skipArray(d, depth+1); err != nil {
			return err
		}
		return d.leaf(name, json.RawMessage(d.text[begin:d.InputOffset()]))
	case json.Number:
		return d.leaf(name, number(t))
	case string:
		if v, ok := nonFinite(t); ok {
			return d.leaf(name, v)
		}
		return d.leaf(name, t)
	}
	return d.leaf(name, t)
}

// skipArray reads to the end of an open array.
func skipArray(d *decoder, depth int) error {
	for open := 1; open > 0; {
		t, err := d.Token()
		if err != nil {
			return badJSON(err)
		}
		switch t {
		case json.Delim('['), json.Delim('{'):
			open++
			if depth+open > MaxDepth+1 {
				return fmt.Errorf("nested deeper than %d", MaxDepth)
			}
		case json.Delim(']'), json.Delim('}'):
			open--
		}
	}
	return nil
}

// number never fails: numbers too large for a float64 become infinite, as in Python.
func number(n json.Number) float64 {
	v, _ := strconv.ParseFloat(string(n), 64)
	return v
}

func nonFinite(s string) (float64, bool) {
	switch s {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	return 0, false
}

var bare = [][]byte{[]byte("NaN"), []byte("Infinity"), []byte("-Infinity")}

// quoteNonFinite quotes the bare words that Python writes and JSON does not allow.
func quoteNonFinite(line []byte) []byte {
	if !bytes.Contains(line, bare[0]) && !bytes.Contains(line, bare[1]) {
		return line
	}
	out := make([]byte, 0, len(line)+16)
	for i := 0; i < len(line); {
		n, word := next(line[i:])
		if word {
			out = append(out, '"')
		}
		out = append(out, line[i:i+n]...)
		if word {
			out = append(out, '"')
		}
		i += n
	}
	return out
}

// next returns the length of the first token: a string, a bare word, or one byte.
func next(b []byte) (n int, word bool) {
	if b[0] == '"' {
		return stringLength(b), false
	}
	for _, w := range bare {
		if bytes.HasPrefix(b, w) {
			return len(w), true
		}
	}
	return 1, false
}

func stringLength(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}
