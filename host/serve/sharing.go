package serve

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/serve/repeat"
)

// sharing says which answers are passed on to several readers.
type sharing Server

// longest is how old an answer may be when it is passed on, if pages do not ask for it all the time.
const longest = 30 * time.Second

// Most implements repeat.Source. Pages look at the status to see whether there is anything new.
func (s *sharing) Most(r *http.Request) time.Duration {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return 0
	}
	switch _, pattern := s.mux.Handler(r); {
	case !s.shared[pattern]:
		return 0
	case strings.HasSuffix(pattern, "/experiments/{name}"), strings.HasSuffix(pattern, "/experiments"):
		return repeat.Shortest
	}
	return longest
}

// ofRecord are the parts of an experiment that follow from its record and its settings alone.
var ofRecord = map[string]bool{"trials": true, "curve": true, "importance": true, "pareto": true, "lineage": true,
	"points": true, "curves": true, "history": true, "timeline": true, "space": true}

// Version implements repeat.Source. When the host has ended, pages read at once how the experiment has.
func (s *sharing) Version(r *http.Request) (version string, over func() bool) {
	rest, _ := strings.CutPrefix(r.URL.EscapedPath(), v1+"/experiments/")
	name, part, ofExperiment := strings.Cut(rest, "/")
	if !ofExperiment {
		return "", nil
	}
	name, err := url.PathUnescape(name)
	if err != nil {
		return "", nil
	}
	x, done, err := s.catalog.Get(name)
	if err != nil { // the operation says what is wrong, unless it is right by then: nobody would know when that is old
		return "", func() bool { return true }
	}
	defer done()
	if ofRecord[part] {
		version = x.Version()
	}
	return version, s.catalog.Ended(x)
}
