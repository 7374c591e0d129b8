package guard

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// here is where the servers of these tests listen.
var here = &net.TCPAddr{IP: net.IPv4(127, 1, 2, 4), Port: 7733}

// reach sends a request that arrives at an address of the server.
func reach(g http.Handler, path string, at *net.TCPAddr, change func(*http.Request)) *httptest.ResponseRecorder {
	return ask(g, http.MethodPost, path, func(r *http.Request) {
		*r = *r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(at)))
		if change != nil {
			change(r)
		}
	})
}

// looking is a page with a secret, at an address, which looks for its server.
type looking struct{ secret, origin string }

const nonce = "0123456789abcdef"

// find does as the page of the dashboard; via is where its requests arrive at the server. It returns whether the page
// takes the server for one of its user, and what the server answers it.
func (p looking) find(t *testing.T, g http.Handler, via *net.TCPAddr) (trusted bool,
	answer *httptest.ResponseRecorder) {
	t.Helper()
	var x offer
	w := reach(g, "/key/again?nonce="+nonce, via, nil)
	if err := json.Unmarshal(w.Body.Bytes(), &x); err != nil {
		t.Fatalf("%v: %d %s", err, w.Code, w.Body)
	}
	trusted = slices.Contains(x.Proofs, seal(p.secret, "server", nonce, x.Question, p.origin))
	q := url.Values{"nonce": {nonce}, "question": {x.Question},
		"proof": {seal(p.secret, "page", nonce, x.Question, p.origin)}}
	return trusted, reach(g, "/key/again?"+q.Encode(), via, nil)
}

// learned is the secret of a page with a key.
func learned(t *testing.T, g *Guard, key string) string {
	t.Helper()
	w := reach(g, "/key/lasting", here, bearer(key))
	if w.Code != http.StatusOK || w.Body.Len() < 32 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// A page that is open finds the next server of the same user, with the rights that it had. The keys that it had before
// are worth nothing.
func TestPageFindsNextServer(t *testing.T) {
	for _, want := range []rights{steering, reading} {
		first, next := New(Options{Tokens: tokens}, hello), New(Options{Tokens: tokens}, hello)
		old := first.access.Load().keys.Full
		if want == reading {
			old = first.access.Load().keys.Read
		}
		trusted, w := looking{learned(t, first, old), "http://127.1.2.4:7733"}.find(t, next, here)
		if !trusted || w.Code != http.StatusOK || next.rights(w.Body.String()) != want {
			t.Errorf("trusted %v: %d, rights %v, want %v", trusted, w.Code, next.rights(w.Body.String()), want)
		}
		if next.rights(old) != none {
			t.Error("the key of the first server is one of the next")
		}
	}
}

// A program at the address that the server had, which passes on what a server elsewhere says, gets nothing: the page
// does not trust it, and its proof is worth nothing at the other address.
func TestReunionIsForOneAddress(t *testing.T) {
	first, next := New(Options{Tokens: tokens}, hello), New(Options{Tokens: tokens}, hello)
	p := looking{learned(t, first, first.access.Load().keys.Full), "http://127.1.2.4:7733"}
	trusted, w := p.find(t, next, &net.TCPAddr{IP: net.IPv4(127, 9, 9, 9), Port: 7733})
	if trusted || w.Code != http.StatusForbidden {
		t.Errorf("trusted %v: %d %s", trusted, w.Code, w.Body)
	}
}

// A server with other tokens is another's, and one with new tokens knows no page from before.
func TestReunionNeedsTheTokens(t *testing.T) {
	first, next := New(Options{Tokens: tokens}, hello), New(Options{Tokens: NewTokens()}, hello)
	p := looking{learned(t, first, first.access.Load().keys.Full), "http://127.1.2.4:7733"}
	if trusted, w := p.find(t, next, here); trusted || w.Code != http.StatusForbidden {
		t.Errorf("trusted %v: %d %s", trusted, w.Code, w.Body)
	}
	for _, token := range []string{"", tokens.Full, tokens.Read, NewTokens().Full} {
		if w := reach(first, "/key/lasting", here, bearer(token)); w.Code != http.StatusForbidden {
			t.Errorf("%q gets a secret: %d %s", token, w.Code, w.Body)
		}
	}
	if w := reach(New(Options{}, hello), "/key/again?nonce="+nonce, here, nil); w.Code != http.StatusForbidden {
		t.Errorf("a server without tokens offers %d %s", w.Code, w.Body)
	}
	if w := reach(first, "/key/again?nonce=short", here, nil); w.Code != http.StatusForbidden {
		t.Errorf("a short nonce: %d %s", w.Code, w.Body)
	}
}

// Questions end, and are those of one server.
func TestQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeys()
		q := k.question(time.Now())
		now := time.Now()
		if !k.asked(q, now) || newKeys().asked(q, now) || k.asked("9"+q, now) || k.asked("", now) {
			t.Error("questions of others are taken, or this one is not")
		}
		time.Sleep(questionTime + time.Second)
		if k.asked(q, time.Now()) {
			t.Error("a question does not end")
		}
	})
}

// Wrong proofs are answered one a second, after the first few.
func TestGuessedProofs(t *testing.T) {
	g := New(Options{Tokens: tokens}, hello)
	codes := map[int]int{}
	for range 3 * wrongBurst {
		codes[reach(g, "/key/again?proof=x&nonce="+nonce, here, nil).Code]++
	}
	if codes[http.StatusForbidden] < wrongBurst || codes[http.StatusTooManyRequests] == 0 {
		t.Errorf("%v", codes)
	}
}
