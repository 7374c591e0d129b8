package steer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The JSON of a request is an object with one key, its name: {"stop":{"trial":"17"}}. All
// transports speak it.

// kinds decode requests, in the order in which messages name them.
var kinds = []struct {
	name   string
	decode func(json.RawMessage) (Request, error)
}{
	{"stop", strictly[Stop]}, {"pause", strictly[Pause]}, {"unpause", strictly[Unpause]}, {"add", strictly[Add]},
	{"interrupt", strictly[Interrupt]}, {"retry", strictly[Retry]}, {"set", strictly[Set]},
}

// Encode is the JSON of a request.
func Encode(r Request) ([]byte, error) { return json.Marshal(map[string]Request{r.verb(): r}) }

// Decode reads the JSON of a request. It is strict: a request that is not understood is not
// half obeyed.
func Decode(text []byte) (Request, error) {
	r, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("not a request: %w", err)
	}
	return r, nil
}

func decode(text []byte) (Request, error) {
	var fields map[string]json.RawMessage
	if err := unmarshal(text, &fields); err != nil {
		return nil, err
	}
	for _, k := range kinds {
		if body, ok := fields[k.name]; ok && len(fields) == 1 && string(body) != "null" {
			return k.decode(body)
		}
	}
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return nil, errors.New("expected one of " + strings.Join(names, ", "))
}

func strictly[R Request](body json.RawMessage) (Request, error) {
	var r R
	err := unmarshal(body, &r)
	return r, err
}

// unmarshal refuses unknown fields, and more than one value.
func unmarshal(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more after the JSON object")
	}
	return nil
}
