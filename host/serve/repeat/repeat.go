// Package repeat carries out a request that is sent again once: the second one with the same key is answered
// as the first one was. Answers are kept for a day, so that a client can repeat a request whose answer was lost
// on its way, also after the server was started again. Requests that only read share their answers: see [Answers].
package repeat

import (
	"bytes"
	"crypto/sha256"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/serve/problem"
)

// Header has the key.
const Header = "Idempotency-Key"

const (
	keptFor   = 24 * time.Hour
	mostKept  = 4096
	maxKey    = 128
	maxAnswer = 1 << 20
)

// Repeats is a handler in front of another.
type Repeats struct {
	next  handler
	now   func() time.Time
	mu    sync.Mutex
	known map[string]*request
	order []string // by age
	store *store   // nil: in memory alone
	// where names what a path is about; nil: the path does.
	where func(path string) string
	// broken is why keys cannot be kept; nil: they can.
	broken error
}

type handler = http.Handler

// request is one that was received, and its answer once there is one.
type request struct {
	sum    [sha256.Size]byte
	began  time.Time
	owner  string // the server that carries it out, if servers share their requests
	done   bool
	lost   bool // that server ended while it was carried out
	status int
	media  string
	answer []byte
}

// New returns a handler in front of another.
func New(next handler, now func() time.Time) *Repeats {
	return &Repeats{next: next, now: now, known: map[string]*request{}}
}

// ServeHTTP implements http.Handler.
func (x *Repeats) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	keys := r.Header.Values(Header)
	if len(keys) == 0 || r.Method == http.MethodGet || r.Method == http.MethodHead {
		x.next.ServeHTTP(w, r)
		return
	}
	key := keys[0]
	body, err := io.ReadAll(r.Body)
	switch {
	case len(keys) > 1:
		problem.New(http.StatusUnprocessableEntity, "Idempotency-Key: it is given twice").Write(w)
		return
	case key == "":
		problem.New(http.StatusUnprocessableEntity, "Idempotency-Key: it is empty: give each request a text of its "+
			"own, or leave the header out").Write(w)
		return
	case len(key) > maxKey:
		problem.New(http.StatusUnprocessableEntity, "Idempotency-Key: it has more than 128 bytes").Write(w)
		return
	case err != nil:
		problem.New(http.StatusBadRequest, "the body cannot be read: "+err.Error()).Write(w)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	x.once(w, r, key, sha256.Sum256(body))
}

func (x *Repeats) once(w http.ResponseWriter, r *http.Request, key string, sum [sha256.Size]byte) {
	about := r.URL.Path
	if x.where != nil {
		about = x.where(about)
	}
	name := r.Method + " " + about + " " + key
	known, first, err := x.enter(name, sum)
	switch {
	case err != nil:
		status := http.StatusInternalServerError
		if problem.Full(err) {
			status = http.StatusInsufficientStorage
		}
		problem.New(status, "Idempotency-Key: "+err.Error()).Write(w)
		return
	case first:
	case known.sum != sum:
		problem.New(http.StatusUnprocessableEntity, "Idempotency-Key: another request had this key").Write(w)
		return
	case known.lost:
		problem.New(http.StatusConflict, "Idempotency-Key: the server ended while it carried out the request with "+
			"this key, perhaps not to its end: look what it has done, and send what is missing with another "+
			"key").Write(w)
		return
	case !known.done:
		w.Header().Set(problem.RetryAfter, "1")
		problem.New(http.StatusConflict, "Idempotency-Key: the request with this key is being carried out").Write(w)
		return
	default:
		w.Header().Set("Content-Type", known.media)
		w.Header().Set("Idempotent-Replayed", "true")
		w.WriteHeader(known.status)
		_, _ = w.Write(known.answer)
		return
	}
	kept := &recorder{ResponseWriter: w, status: http.StatusOK}
	defer x.leave(name, kept)
	x.next.ServeHTTP(kept, r)
}

// enter returns a copy of what is known of a request.
func (x *Repeats) enter(name string, sum [sha256.Size]byte) (known request, first bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	release, err := x.hold()
	if err != nil {
		return request{}, false, err
	}
	defer release()
	x.forget()
	if r := x.known[name]; r != nil {
		known = *r
		known.lost = !r.done && x.store != nil && !x.store.lives(r.owner)
		return known, false, nil
	}
	r := &request{sum: sum, began: x.now()}
	if x.store != nil {
		r.owner = x.store.owner
	}
	if err := x.keep(r.line(name)); err != nil {
		return request{}, false, err
	}
	x.known[name] = r
	x.order = append(x.order, name)
	return request{}, true, nil
}

// forget drops what is old, or too much.
func (x *Repeats) forget() {
	for len(x.order) > 0 {
		r := x.known[x.order[0]]
		if r != nil && len(x.order) < mostKept && x.now().Sub(r.began) < keptFor {
			return
		}
		delete(x.known, x.order[0])
		x.order = x.order[1:]
	}
}

// leave keeps the answer, unless the same request may have another one later: it is then carried out.
func (x *Repeats) leave(name string, w *recorder) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if release, err := x.hold(); err == nil {
		defer release()
	} // otherwise this server alone knows the answer
	r := x.known[name]
	if r == nil {
		return
	}
	if !w.final() || w.body.Len() > maxAnswer {
		delete(x.known, name)
		_ = x.keep(&line{Name: name, Sum: r.sum[:], Began: r.began, Failed: true})
		return
	}
	r.done, r.status, r.media, r.answer = true, w.status, w.Header().Get("Content-Type"), w.body.Bytes()
	_ = x.keep(r.line(name)) // this server knows the answer, and the next one that the request has begun
}

// recorder keeps what is answered.
type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// final reports whether the request was carried out, or never can be, because it is wrong in itself. All other answers
// are about the state of the experiment, of its host or of the disk, which passes.
func (w *recorder) final() bool {
	switch w.status {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return w.Header().Get(problem.RetryAfter) == ""
	}
	return w.status < http.StatusBadRequest
}

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(b []byte) (int, error) {
	if w.body.Len() <= maxAnswer {
		w.body.Write(b)
	}
	return w.ResponseWriter.Write(b)
}
