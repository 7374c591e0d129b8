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
	Stop      *target   `json:"stop,omitempty"`
	Pause     *pausing  `json:"pause,omitempty"`
	Unpause   *target   `json:"unpause,omitempty"`
	Add       *adding   `json:"add,omitempty"`
	Interrupt *struct{} `json:"interrupt,omitempty"`
	Retry     *retrying `json:"retry,omitempty"`
}

// known are the fields of a request, for people.
const known = "stop, pause, unpause, add, interrupt, retry"

// count is how many fields it has.
func (r *request) count() (n int) {
	for _, is := range []bool{r.Stop != nil, r.Pause != nil, r.Unpause != nil, r.Add != nil, r.Interrupt != nil, r.Retry != nil} {
		if is {
			n++
		}
	}
	return n
}

// pausing is one trial, or all. Force: also where progress is lost by it.
type pausing struct {
	target
	Force bool `json:"force,omitempty"`
}

// retrying is a trial in ERROR. Fresh: from its beginning, in a new directory.
type retrying struct {
	Trial string `json:"trial"`
	Fresh bool   `json:"fresh,omitempty"`
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
	// Loses: the request was not carried out, because it loses what Error says; with
	// force it is carried out all the same.
	Loses bool `json:"loses,omitempty"`
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
	if r.count() != 1 {
		return r, errors.New("not a request: expected one of " + known)
	}
	return r, nil
}
