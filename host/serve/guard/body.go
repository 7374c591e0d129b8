package guard

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/tunehost/tunehost/host/jsontext"
	"github.com/tunehost/tunehost/host/serve/problem"
)

// JSON returns a handler in front of another. It refuses a body that is not JSON or not text, or that could mean
// several things: readers of JSON do not agree on what a name means that is given twice.
func JSON(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			problem.New(http.StatusBadRequest, "the body cannot be read: "+err.Error()).Write(w)
			return
		}
		body = bytes.TrimPrefix(body, []byte("\ufeff")) // some programs write a byte order mark before a text
		if p := examine(r.Header, body); p != nil {
			p.Write(w)
			return
		}
		if len(body) > 0 {
			r.Header.Set("Content-Type", "application/json") // huma takes no other spelling
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		next.ServeHTTP(w, r)
	})
}

// examine returns what is wrong with a body, or nil. Without a body, its type does not matter.
func examine(h http.Header, body []byte) *problem.Problem {
	if len(body) == 0 {
		return nil
	}
	if e := strings.Join(h.Values("Content-Encoding"), ", "); e != "" && !strings.EqualFold(e, "identity") {
		return problem.New(http.StatusUnsupportedMediaType, fmt.Sprintf("Content-Encoding: %.40q is not read here: "+
			"send the JSON as it is, without this header", e))
	}
	contentType := h.Get("Content-Type")
	media, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	switch {
	case err != nil || media != "application/json":
		return problem.New(http.StatusUnsupportedMediaType, fmt.Sprintf("Content-Type: %.100q is not that of JSON: "+
			"send the body with Content-Type: application/json", contentType))
	case charset != "" && !strings.EqualFold(charset, "utf-8"):
		return problem.New(http.StatusUnsupportedMediaType, fmt.Sprintf("Content-Type: the charset %.40q is not that "+
			"of JSON, which is always utf-8", charset))
	}
	if what, at := jsontext.NotText(body); what != "" {
		return problem.New(http.StatusBadRequest, fmt.Sprintf("body: byte %d is %s: JSON is text in UTF-8", at+1, what))
	}
	if place, twice := jsontext.Twice(body); twice {
		return problem.New(http.StatusUnprocessableEntity, fmt.Sprintf("body.%.200s: it is given twice", place))
	}
	if place, number, ok := jsontext.TooLarge(body); ok {
		return problem.New(http.StatusBadRequest, fmt.Sprintf("%.200s: the number %s is too large",
			strings.TrimSuffix("body."+place, "."), number))
	}
	return nil
}
