package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/serve/experiments"
	"github.com/tunehost/tunehost/host/serve/guard"
	"github.com/tunehost/tunehost/host/serve/problem"
	"github.com/tunehost/tunehost/host/serve/repeat"
	"github.com/tunehost/tunehost/host/serve/workers"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/web"
)

// Options are what a server shows, and to whom.
type Options struct {
	// Folders have the experiments; the first one is for new ones.
	Folders []string
	Guard   guard.Options
	// Check finds mistakes of settings, as steer.Resting does.
	Check steer.Checks
	// Shown is a directory as the user would type it.
	Shown func(dir string) string
	// Registry has the plugins of the program.
	Registry *bundled.Registry
	// Single says that Folders is the directory of one experiment, so that no others can begin.
	Single bool
	// Keys is a folder for what must survive the server: the keys of requests; "": they are kept in memory.
	Keys string
	// ReaderTimeout is how long the reader of a stream may take for a part of it; 0: guard.WriteTimeout.
	ReaderTimeout time.Duration
	// Version is that of tunehost.
	Version string
}

// Server answers requests.
type Server struct {
	Options
	catalog *experiments.Catalog
	api     huma.API
	mux     *http.ServeMux
	streams chan struct{}
	repeats *repeat.Repeats
	// starting is held while an experiment begins, so that the next one sees that its name is taken.
	starting sync.Mutex
	// sessions are the experiments that this server hosts.
	sessions *sessions
	relay    relay
	// over is closed when the server ends: streams end, too.
	over  chan struct{}
	asked lately
	// shared are the patterns of the operations whose answers are passed on to several readers.
	shared map[string]bool
}

// CheckStorage looks at the storage at a URL: the error says why nothing could be shown.
func CheckStorage(url string) error { return experiments.CheckStorage(url) }

// LimitMemory is for a process that does nothing but serve.
func LimitMemory() { experiments.LimitMemory() }

// maxStreams is how many streams are open at a time.
const maxStreams = 128

// tidyEvery is how often the server looks for experiments to close, and leases to end.
const tidyEvery = time.Second

// rest is the pattern of the paths of the API that no operation has, top that of the path above them. The mux would
// redirect it, and the prefix that a proxy has removed would be lost.
const rest, top = "/api/", "/api"

// New returns a server.
func New(o Options) *Server {
	s := &Server{Options: o, catalog: experiments.New(o.Folders...), mux: http.NewServeMux(),
		streams: make(chan struct{}, maxStreams), over: make(chan struct{}), shared: map[string]bool{},
		sessions: &sessions{open: map[string]*workers.Workers{}}}
	s.relay.Server = s
	s.repeats = s.repeating()
	s.api = newAPI(s.mux, o.Version)
	s.readers()
	s.plotters()
	s.streamers()
	s.steerers()
	s.starters()
	s.askers()
	describe(s.api.OpenAPI())
	s.mux.HandleFunc(rest, s.noSuchPath)
	s.mux.HandleFunc(top, s.noSuchPath)
	s.mux.Handle("/", web.Handler())
	return s
}

// repeating carries out repeated requests once.
func (s *Server) repeating() *repeat.Repeats {
	if s.Keys == "" {
		return repeat.New(s.mux, time.Now)
	}
	return repeat.Open(s.Keys, s.subject, s.mux, time.Now)
}

// subject names what a path is about such that all servers of the user agree: by the directory of the experiment.
func (s *Server) subject(path string) string {
	of, found := strings.CutPrefix(path, v1+"/experiments")
	id, rest, _ := strings.Cut(strings.TrimPrefix(of, "/"), "/")
	if !found {
		return path
	}
	if id == "" {
		root, _ := s.catalog.Root() // without it the request is refused
		return plainPath(root)
	}
	place, _ := s.catalog.Place(id)
	return plainPath(place) + "/" + rest
}

// plainPath is a path without links.
func plainPath(path string) string {
	if plain, err := filepath.EvalSymlinks(path); err == nil {
		return plain
	}
	return path
}

// noSuchPath answers what no operation takes.
func (s *Server) noSuchPath(w http.ResponseWriter, r *http.Request) {
	if allowed := s.allowed(r); len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		problem.New(http.StatusMethodNotAllowed, fmt.Sprintf("this path has no method %.20q: it has %s", r.Method,
			strings.Join(allowed, ", "))).Write(w)
		return
	}
	problem.New(http.StatusNotFound, "the API has no such path; /api/openapi.json has all").Write(w)
}

// allowed returns the methods of a path.
func (s *Server) allowed(r *http.Request) (list []string) {
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch} {
		other := *r
		other.Method = method
		if _, pattern := s.mux.Handler(&other); pattern != rest && pattern != top {
			list = append(list, method)
		}
	}
	return list
}

// Handler answers requests that the guard lets in.
func (s *Server) Handler() http.Handler {
	here := plainly(guard.JSON(s.answers()))
	return guard.New(s.Guard, s.asked.noting(s.relay.passing(here)))
}

// answers are those to requests that are well formed.
func (s *Server) answers() http.Handler { return repeat.Share(s.repeats, (*sharing)(s), time.Now) }

// roundabout reports whether a path is another way to write one of the API, as /api/v1/x/../experiments is.
func roundabout(escaped string) bool {
	plain := path.Clean(escaped)
	return plain != strings.TrimSuffix(escaped, "/") &&
		(strings.HasPrefix(plain+"/", rest) || strings.HasPrefix(escaped, rest))
}

// plainly refuses a request that could mean several things: its path has no way back, and its query has each parameter
// once.
func plainly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if roundabout(r.URL.EscapedPath()) {
			problem.New(http.StatusNotFound, `the API has no path with "..", "." or "//": `+
				"write it without them").Write(w)
			return
		}
		query, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			problem.New(http.StatusBadRequest, "the query cannot be read: "+err.Error()).Write(w)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(query)) {
			if n := len(query[name]); n > 1 {
				problem.New(http.StatusUnprocessableEntity, fmt.Sprintf("%.100s: it is given %d times; expected once "+
					"(a list has commas)", name, n)).Write(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Streams returns how many streams are open.
func (s *Server) Streams() int { return len(s.streams) }

// OpenAPI returns the description of the API.
func (s *Server) OpenAPI() ([]byte, error) { return s.api.OpenAPI().MarshalJSON() }

// Serve answers requests until the context ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server, ended := guard.Server(s.Handler()), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		close(s.over)
		soon, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if server.Shutdown(soon) != nil {
			_ = server.Close()
		}
	})
	defer stop()
	go s.tidy(ctx)
	go s.ahead()
	defer s.Close()
	defer s.join()()
	err := server.Serve(guard.Room(l, guard.MaxConnections))
	if errors.Is(err, http.ErrServerClosed) {
		<-ended // what is being answered is answered
		return nil
	}
	return err
}

// Close saves the experiments of workers; they continue when a worker asks again.
func (s *Server) Close() {
	s.sessions.tick(context.Background(), true)
	s.catalog.Close()
	s.repeats.Close()
}

// ahead reads the experiments before somebody asks: the record of a large one takes seconds.
func (s *Server) ahead() { _, _ = s.catalog.List() } // a reader who asks is told of errors

func (s *Server) tidy(ctx context.Context) {
	ticks := time.NewTicker(tidyEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks.C:
			s.catalog.Tidy(now)
			s.sessions.tick(ctx, false)
		}
	}
}
