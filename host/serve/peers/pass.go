package peers

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"

	"github.com/tunehost/tunehost/host/serve/problem"
	"github.com/tunehost/tunehost/host/steer"
)

// Pass passes a request on and its answer back. Its path begins with before, which is followed by the id that the
// experiment has here. The guard of this server has let the request in: the other one asks for no token, and gets none.
func (p *Peer) Pass(w http.ResponseWriter, r *http.Request, before string) {
	at, err := p.path(before, r.URL.EscapedPath())
	if err != nil {
		problem.New(http.StatusNotFound, err.Error()).Write(w)
		return
	}
	at.RawQuery = r.URL.RawQuery
	proxy := httputil.ReverseProxy{Transport: p.transport, FlushInterval: -1,
		Rewrite: func(x *httputil.ProxyRequest) {
			x.Out.URL, x.Out.Host = at, at.Host
			x.Out.Header.Del("Authorization")
		},
		ModifyResponse: func(a *http.Response) error {
			for name := range a.Header { // the proxy would add it to what the guard has set
				w.Header().Del(name)
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { unanswered(err).Write(w) },
	}
	proxy.ServeHTTP(w, r)
}

// unanswered is the problem of a server that has ended in the meantime.
func unanswered(err error) *problem.Problem {
	var unsent *net.OpError
	said := problem.Of(&steer.UnknownError{What: fmt.Sprintf("the server that has the experiment ended without an "+
		"answer (%v): a worker may send the same again; for all else look whether it was done before", err)})
	if errors.As(err, &unsent) && unsent.Op == "dial" {
		said = problem.Later(errors.New("the server that has the experiment has just ended: try again in a moment"))
	}
	var p *problem.Problem
	errors.As(said, &p)
	return p
}
