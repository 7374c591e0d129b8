package guard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/tunehost/tunehost/host/serve/problem"
)

// Limits of requests.
const (
	// MaxBodyBytes is the size of the largest request: an experiment file.
	MaxBodyBytes = 1 << 20
	maxHeader    = 32 << 10
	// MaxConnections is how many connections are open at a time; see [Room].
	MaxConnections = 512
	// headerTimeout and BodyTimeout are how long a request may take to arrive, WriteTimeout how long a
	// reader may take for a part of a stream, and idleTimeout how long a connection is kept.
	headerTimeout = 10 * time.Second
	BodyTimeout   = 30 * time.Second
	WriteTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	// answerTimeout is for a whole answer that is no stream; reading a large record for the first time takes long.
	answerTimeout = 5 * time.Minute
)

// Wrong tokens from one address are answered one a second, after the first few.
const (
	wrongEvery = time.Second
	wrongBurst = 10
	// mostAddresses is how many addresses are remembered.
	mostAddresses = 1024
)

// Options say what is let in.
type Options struct {
	Tokens Tokens
	// Printed are the tokens in the URLs that the server prints: they give the same access, and end with the
	// server. Empty ones are none.
	Printed Tokens
	// Folder has the tokens, which another server may replace; "": they stay.
	Folder string
	// Warn is told, once, why the tokens that another server has put there are not taken; nil: nobody is.
	Warn func(error)
	// Hosts are names of the server in URLs, beside localhost and IP addresses.
	Hosts []string
}

// Guard is a handler in front of another.
type Guard struct {
	Options
	next   http.Handler
	cross  *http.CrossOriginProtection
	access atomic.Pointer[access]
	mu     sync.Mutex
	looked time.Time // when the folder of the tokens was looked at
	warned string    // the last warning of the tokens there
	wrong  map[netip.Addr]*rate.Limiter
}

// New returns a guard in front of a handler.
func New(o Options, next http.Handler) *Guard {
	g := &Guard{Options: o, next: next, cross: http.NewCrossOriginProtection(), looked: time.Now(),
		wrong: map[netip.Addr]*rate.Limiter{}}
	g.access.Store(&access{o.Tokens, o.Printed, newKeys()})
	return g
}

// Server returns a server with limits on the size and the time of requests.
func Server(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: BodyTimeout,
		WriteTimeout: answerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ConnContext: remember}
}

// ServeHTTP implements http.Handler.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	headers(w.Header())
	g.renew()
	if len(r.TransferEncoding) > 0 {
		// The request may have had a Content-Length, too, which net/http drops: what follows may be a part of its body
		// for a proxy in between.
		w.Header().Set("Connection", "close")
	}
	if len(r.Header.Values("Authorization")) > 1 {
		leave(w, r)
		problem.New(http.StatusBadRequest, "Authorization: the header is given several times; expected once").Write(w)
		return
	}
	if !g.named(r.Host) {
		problem.New(http.StatusMisdirectedRequest, "the server has no such name; `tunehost serve --host NAME` "+
			"lets it be reached by another name").Write(w)
		return
	}
	if err := g.cross.Check(r); err != nil || !sameScheme(r) {
		problem.New(http.StatusForbidden, "the request comes from a page of another site").Write(w)
		return
	}
	if dismiss(w, r) || g.visit(w, r) || g.enter(w, r) {
		return
	}
	if g.rights(shown(r)) == reading {
		w.Header().Set(accessHeader, "read")
	}
	if p := g.refusal(r); p != nil {
		if p.Status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="tunehost"`)
		}
		leave(w, r)
		if p.Status == http.StatusUnauthorized && browses(r) {
			askPerson(w)
			return
		}
		p.Write(w)
		return
	}
	if g.rights(shown(r)) != none {
		welcome(r)
	}
	if p := receive(w, r); p != nil {
		p.Write(w)
		return
	}
	g.next.ServeHTTP(w, g.owned(r))
}

// ownerKey is the key of what a request was let in with, in its context.
type ownerKey struct{}

// owned notes that a request has the user's own token, and not one that ends with this server.
func (g *Guard) owned(r *http.Request) *http.Request {
	if g.access.Load().Tokens.of(shown(r)) != steering {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), ownerKey{}, true))
}

// IsOwner reports whether a request that was let in has the user's own token for everything, which all servers of the
// user take.
func IsOwner(r *http.Request) bool { return r.Context().Value(ownerKey{}) != nil }

// leave lets an answer not wait for the body of the request.
func leave(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
}

// receive reads the body of a request that may have one, so that what is wrong with its transport is told apart
// from what it says.
func receive(w http.ResponseWriter, r *http.Request) *problem.Problem {
	if r.ContentLength > MaxBodyBytes {
		leave(w, r)
		return tooLarge(MaxBodyBytes)
	}
	r.Body = http.MaxBytesReader(w, r.Body, MaxBodyBytes)
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.Header().Set("Connection", "close")
		return unread(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// unread is the problem of a body that cannot be read.
func unread(err error) *problem.Problem {
	var large *http.MaxBytesError
	var slow net.Error
	switch {
	case errors.As(err, &large):
		return tooLarge(large.Limit)
	case errors.As(err, &slow) && slow.Timeout():
		return problem.New(http.StatusRequestTimeout, fmt.Sprintf("the request has not arrived within %v", BodyTimeout))
	}
	return problem.New(http.StatusBadRequest, "the body cannot be read: "+err.Error())
}

func tooLarge(most int64) *problem.Problem {
	return problem.New(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes, the most that "+
		"a request may have", most))
}

// accessHeader is a header of answers to a token that only reads: a page then offers no changes.
const accessHeader = "Tunehost-Access"

// headers restrict what a browser does with an answer.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "+
		"font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// named reports whether a Host header is one of the server's. An address is no name that somebody else
// could let point here (DNS rebinding).
func (g *Guard) named(hostport string) bool {
	host := (&url.URL{Host: hostport}).Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, name := range append([]string{"localhost"}, g.Hosts...) {
		if host == strings.ToLower(strings.TrimSuffix(name, ".")) {
			return true
		}
	}
	return false
}

// visit answers a browser that opens a page with a token in its URL: the page exchanges the ticket for a key.
func (g *Guard) visit(w http.ResponseWriter, r *http.Request) bool {
	token := r.URL.Query().Get("token")
	if token == "" || !public(r) {
		return false
	}
	rights := g.access.Load().shown(token)
	if rights == none {
		return false
	}
	rest := r.URL.Query()
	rest.Del("token")
	rest.Set("ticket", g.access.Load().keys.ticket(rights))
	to := url.URL{RawQuery: rest.Encode()} // where a proxy has a prefix for this server, it stays
	if host := address(r); host != "" && !proxied(r) {
		to.Scheme, to.Host, to.Path = "http", host, "/"+strings.TrimLeft(r.URL.Path, "/\\")
	}
	w.Header().Set("Clear-Site-Data", `"cache", "storage"`)
	w.Header().Set("Location", to.String()) // http.Redirect would make it absolute
	w.WriteHeader(http.StatusSeeOther)
	return true
}

// enter answers a page that shows its ticket with a key of this server.
func (g *Guard) enter(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPost || r.URL.Path != "/key" {
		return false
	}
	key := g.access.Load().keys.enter(r.URL.Query().Get("ticket"))
	if key == "" {
		problem.New(http.StatusForbidden, "this ticket is not valid any more; open the URL that tunehost has "+
			"printed").Write(w)
		return true
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, key)
	return true
}

// public reports whether a request reads a file of the dashboard, which are the same for everybody.
func public(r *http.Request) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	return reads && !strings.HasPrefix(r.URL.Path, "/api/")
}

// rights are those of a token, or of a key that this server has given a page.
func (g *Guard) rights(token string) rights {
	a := g.access.Load()
	return max(a.shown(token), a.keys.of(token))
}

// refusal returns why a request is refused; nil: it is not.
func (g *Guard) refusal(r *http.Request) *problem.Problem {
	token := shown(r)
	rights := g.rights(token)
	switch {
	case token == "" && public(r):
		return nil
	case rights == none && !g.mayGuess(r.RemoteAddr):
		return problem.New(http.StatusTooManyRequests, "too many wrong tokens from this address; try again in a second")
	case rights == none && token == "":
		return problem.New(http.StatusUnauthorized, "a token is needed: open the URL that `tunehost serve` has "+
			"printed, or send the header Authorization: Bearer TOKEN")
	case rights == none:
		return problem.New(http.StatusUnauthorized, "this is not a token of the server, or not any more: open "+
			"the URL that it has printed when it started")
	case rights == reading && r.Method != http.MethodGet && r.Method != http.MethodHead:
		return problem.New(http.StatusForbidden, "this token is for reading only")
	}
	return nil
}

// shown returns what a request shows. A token in the URL of a page is a wrong one: visit has taken the others.
func shown(r *http.Request) string {
	if scheme, text, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(text)
	}
	if public(r) {
		return r.URL.Query().Get("token")
	}
	return ""
}

// mayGuess counts a wrong token of an address.
func (g *Guard) mayGuess(remote string) bool {
	from, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.wrong[from.Addr()]
	if l == nil {
		if len(g.wrong) >= mostAddresses {
			clear(g.wrong)
		}
		l = rate.NewLimiter(rate.Every(wrongEvery), wrongBurst)
		g.wrong[from.Addr()] = l
	}
	return l.Allow()
}

// Loopback reports whether an address to listen at is reached from this machine alone.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
