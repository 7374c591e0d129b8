package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLineBytes bounds a request and an answer.
const maxLineBytes = 1 << 20

// request has one of its fields.
type request struct {
	Stop    *target `json:"stop,omitempty"`
	Pause   *target `json:"pause,omitempty"`
	Unpause *target `json:"unpause,omitempty"`
	Add     *adding `json:"add,omitempty"`
}

// target is one trial, or all.
type target struct {
	Trial string `json:"trial,omitempty"`
}

type adding struct {
	Params json.RawMessage `json:"params"`
	// Clone is the trial to start from, or "".
	Clone string `json:"clone,omitempty"`
}

type answer struct {
	OK    bool    `json:"ok,omitempty"`
	Trial *uint32 `json:"trial,omitempty"`
	Error string  `json:"error,omitempty"`
}

// readRequest is strict: a request that is not understood is not half obeyed.
func readRequest(line []byte) (r request, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, fmt.Errorf("not a request: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return r, errors.New("not a request: there is more after the JSON object")
	}
	n := 0
	for _, is := range []bool{r.Stop != nil, r.Pause != nil, r.Unpause != nil, r.Add != nil} {
		if is {
			n++
		}
	}
	if n != 1 {
		return r, errors.New("not a request: expected one of stop, pause, unpause, add")
	}
	return r, nil
}
