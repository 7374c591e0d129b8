package unixsock

import (
	"encoding/json"

	"github.com/tunehost/tunehost/host/steer"
)

// maxLineBytes bounds a request and an answer.
const maxLineBytes = 1 << 20

// timely is a request that somebody gives up. A request without a time is one of [steer.Encode] alone.
type timely struct {
	// Before is the time of this machine's clock, in nanoseconds, after which nothing is carried out any more.
	Before int64 `json:"before"`
	// Request is the JSON of the request.
	Request json.RawMessage `json:"request"`
}

// answer is what the host says to a request.
type answer struct {
	OK bool `json:"ok,omitempty"`
	steer.Answer
	Error string `json:"error,omitempty"`
	// Loses: the request was not carried out, because it loses what Error says; with
	// force it is carried out all the same.
	Loses bool `json:"loses,omitempty"`
	// Busy: the request was not carried out, and may be sent again.
	Busy bool `json:"busy,omitempty"`
	// Mistake: Error is one of the user's, to be corrected in the request.
	Mistake bool `json:"mistake,omitempty"`
}
