// Package problem has the answers of the HTTP API to what it cannot do: problem documents of RFC 9457.
// Their detail is the text that the command line prints for the same mistake, with the names of the API.
package problem

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"
	"syscall"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/usererror"
)

// MediaType is the media type of a problem document.
const MediaType = "application/problem+json"

// RetryAfter is the header of answers to requests of which nothing was carried out, and that may be sent again.
const RetryAfter = "Retry-After"

// Problem is a problem document. It is the error that handlers return.
type Problem struct {
	Type   string `json:"type" doc:"always about:blank: the status and the detail say everything"`
	Title  string `json:"title" doc:"the name of the status"`
	Status int    `json:"status"`
	Detail string `json:"detail" doc:"what is wrong, where, and what to do, in one line"`
	// Loses says that the request was refused only because progress would be lost.
	Loses bool `json:"loses,omitempty" doc:"with force the request would be carried out, and lose progress"`
	// again says that nothing was carried out, and that the same request may work a moment later.
	again bool
}

// New returns a problem with a status.
func New(status int, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: unflagged(oneLine(detail))}
}

// oneLine joins lines as the command line does.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")
}

// NotFound is the problem of a name in the path that does not exist.
func NotFound(err error) error { return New(http.StatusNotFound, err.Error()) }

// Invalid is the problem of a value in the request.
func Invalid(err error) error { return New(http.StatusUnprocessableEntity, err.Error()) }

// Conflict is the problem of a request that the present state of the experiment does not allow.
func Conflict(err error) error { return New(http.StatusConflict, err.Error()) }

// Later is the problem of a request of which nothing was carried out, because the experiment could not be reached: the
// same request may work a moment later.
func Later(err error) error {
	p := New(http.StatusConflict, err.Error())
	p.again = true
	return p
}

// Unresumed is the problem of a host that did not start. Resuming twice is the same as once, but what a host prints
// stays true until the user does something, unless another process has the experiment for a moment.
func Unresumed(dir string, err error) error {
	var said *usererror.Error
	held, _ := journal.Holder(dir) // nobody, if that is not known
	switch {
	case Full(err):
		return Of(err)
	case errors.As(err, &said) && held == nil:
		return Conflict(err)
	}
	return Later(err)
}

// Of returns the problem of an error of reading or steering an experiment; nil for nil.
func Of(err error) error {
	var p *Problem
	if err == nil || errors.As(err, &p) {
		return err
	}
	p = New(status(err), err.Error())
	var loss *steer.LossError
	p.Loses = errors.As(err, &loss)
	var busy *steer.BusyError
	p.again = errors.As(err, &busy) || p.Status == http.StatusServiceUnavailable
	return p
}

// Unreadable is the problem of an experiment that cannot be opened: its files are damaged, or closed to this user.
func Unreadable(err error) error {
	var p *Problem
	if errors.As(err, &p) {
		return err
	}
	if is := status(err); is == http.StatusNotFound {
		return New(is, err.Error())
	}
	return New(http.StatusConflict, err.Error())
}

func status(err error) int {
	var mistake *usererror.Error
	var loss *steer.LossError
	var link *nolink.Error
	var busy *steer.BusyError
	var unknown *steer.UnknownError
	switch {
	case errors.As(err, &unknown):
		return http.StatusServiceUnavailable
	case errors.As(err, &link), errors.As(err, &busy):
		return http.StatusConflict
	case Full(err):
		return http.StatusInsufficientStorage
	case errors.Is(err, runfile.ErrNone):
		return http.StatusNotFound
	case errors.Is(err, journal.ErrCorrupt), errors.Is(err, journal.ErrNoJournal), errors.Is(err, runfile.ErrGone),
		errors.As(err, &loss), errors.Is(err, core.ErrFinished):
		return http.StatusConflict
	case errors.As(err, &mistake):
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}

// Full reports whether an error says that there is no room on the disk, or none left for this user.
func Full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, journal.ErrNoSpace)
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// GetHeaders are further headers of the answer.
func (p *Problem) GetHeaders() http.Header {
	switch {
	case p.Status == http.StatusInsufficientStorage:
		return http.Header{RetryAfter: {"5"}}
	case p.again:
		return http.Header{RetryAfter: {"1"}}
	}
	return nil
}

// GetStatus is the status of the answer.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is the media type of the answer.
func (p *Problem) ContentType(string) string { return MediaType }

// Write answers a request with the problem.
func (p *Problem) Write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", MediaType)
	maps.Copy(w.Header(), p.GetHeaders())
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the caller may be gone
}
