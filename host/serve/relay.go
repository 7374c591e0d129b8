package serve

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/tunehost/tunehost/host/serve/experiments"
	"github.com/tunehost/tunehost/host/serve/guard"
	"github.com/tunehost/tunehost/host/serve/peers"
)

// ofExperiments begins the paths of requests about one experiment.
const ofExperiments = v1 + "/experiments/"

// relay passes on what another server of the user must answer: it has the experiment open for workers.
type relay struct {
	*Server
	others atomic.Pointer[peers.Peers] // nil: nobody knows this server
}

// join makes this server known to the others of the user. It serves without that, too.
func (s *Server) join() (leave func()) {
	if s.Keys == "" {
		return func() {}
	}
	p, err := peers.Join(s.Keys, s, plainly(guard.JSON(s.answers())))
	if err != nil {
		if s.Guard.Warn != nil {
			s.Guard.Warn(fmt.Errorf("your other servers cannot pass requests on to this one: %w", err))
		}
		return func() {}
	}
	s.relay.others.Store(p)
	return p.Close
}

// passing answers with next what no other server must answer.
func (x *relay) passing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if other := x.otherFor(r); other != nil {
			other.Pass(w, r, ofExperiments)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// otherFor returns the server that must answer a request; nil: this one. What only reads is read here, if the
// experiment is in a folder of this server. One that is not is another server's alone: who has one of the printed URLs
// was given access to the folders of this server, and to no others.
func (x *relay) otherFor(r *http.Request) *peers.Peer {
	others, name := x.others.Load(), experimentOf(r)
	if others == nil || name == "" {
		return nil
	}
	place, err := x.catalog.Place(name)
	switch {
	case errors.Is(err, experiments.ErrUnknown) && guard.IsOwner(r):
		open := others.Find(peers.Wanted{ID: name})
		if open == nil {
			return others.Find(peers.Wanted{ID: name, Resting: true})
		}
		return open
	case err != nil || r.Method == http.MethodGet || r.Method == http.MethodHead:
		return nil
	}
	wanted := peers.Wanted{Dir: plainPath(place)}
	if x.Hosted(wanted) != nil {
		return nil
	}
	return others.Find(wanted)
}

// experimentOf is the id in the path of a request.
func experimentOf(r *http.Request) string {
	rest, _ := strings.CutPrefix(r.URL.EscapedPath(), ofExperiments)
	name, _, _ := strings.Cut(rest, "/")
	name, err := url.PathUnescape(name)
	if err != nil || rest == r.URL.EscapedPath() {
		return ""
	}
	return name
}

// Hosted implements peers.Host.
func (s *Server) Hosted(w peers.Wanted) *peers.Found {
	if w.Resting {
		return s.resting(w.ID)
	}
	for dir := range s.sessions.all() {
		id, err := s.catalog.ID(dir)
		if err == nil && (w.Dir == plainPath(dir) || w.Dir == "" && w.ID == id) {
			return &peers.Found{ID: id, Dir: plainPath(dir)}
		}
	}
	return nil
}

// resting returns an experiment for workers that nobody has open; nil: this server has none of this id.
func (s *Server) resting(id string) *peers.Found {
	x, done, err := s.catalog.Get(id)
	if err != nil {
		return nil
	}
	defer done()
	if x.IsElsewhere() || !x.Manual() || x.Runs() {
		return nil
	}
	return &peers.Found{ID: id, Dir: plainPath(x.Dir.Path())}
}
