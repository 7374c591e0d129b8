package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// ask returns the reply to a request, which is asked once.
func (a *answers) ask(path string) (r reply, err error) {
	if r, ok := a.known[path]; ok {
		return r, nil
	}
	request, err := http.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return r, err
	}
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	a.server.mux.ServeHTTP(w, request)
	if r, err = w.reply(); err == nil {
		a.known[path] = r
	}
	return r, err
}

// read reads the reply to a request, which must be no problem.
func (a *answers) read(path string, to any) error {
	r, err := a.ask(path)
	switch {
	case err != nil:
		return err
	case r.Status != 0:
		return fmt.Errorf("%s: %s", path, r.Body)
	}
	return json.Unmarshal(r.Body, to)
}

// write keeps a body for the pages.
func (a *answers) write(path string, body any) error {
	b, err := json.Marshal(body)
	a.kept[path] = reply{Body: b}
	return err
}

// recorder is an answer in memory. It has the methods that streams need.
type recorder struct {
	bytes.Buffer
	header http.Header
	status int
}

func (w *recorder) Header() http.Header              { return w.header }
func (w *recorder) WriteHeader(status int)           { w.status = status }
func (w *recorder) Flush()                           {}
func (w *recorder) SetReadDeadline(time.Time) error  { return nil }
func (w *recorder) SetWriteDeadline(time.Time) error { return nil }

// reply returns what was answered; a text becomes a string.
func (w *recorder) reply() (r reply, err error) {
	if w.status >= http.StatusBadRequest {
		r.Status = w.status
	}
	if r.Body = w.Bytes(); strings.Contains(w.header.Get("Content-Type"), "json") {
		return r, nil
	}
	r.Body, err = json.Marshal(w.String())
	return r, err
}
