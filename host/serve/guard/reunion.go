package guard

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/serve/problem"
)

// The key of a page ends with its server. A page that is open then finds the next server of the same user by a secret
// that follows from the user's tokens, and that it keeps in its memory alone: another program that has got the address
// can serve pages of its own there, which could read a storage. The secret itself is sent once, to the page. Then both
// prove that they have it, for the address at which the page is: what a program says that only passes on what a server
// elsewhere has said is worth nothing.

// pageSecret is what pages with the rights of a token share with all servers that have this token.
func pageSecret(token string) string { return seal(token, "tunehost: a page") }

// seal is the authentication code of a text.
func seal(secret string, parts ...string) string {
	h := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(h, strings.Join(parts, "\n")) // it does not fail
	return hex.EncodeToString(h.Sum(nil))
}

// questionTime is how long a page has to answer.
const questionTime = time.Minute

// maxNonce is longer than what a page makes up.
const maxNonce = 128

// question returns a text that this server alone can have made, and only lately.
func (k *keys) question(now time.Time) string {
	until := strconv.FormatInt(now.Add(questionTime).Unix(), 10)
	return until + "." + seal(k.Full, "question", until)
}

// asked reports whether a question is one of this server.
func (k *keys) asked(text string, now time.Time) bool {
	until, code, _ := strings.Cut(text, ".")
	second, err := strconv.ParseInt(until, 10, 64)
	return err == nil && same(code, seal(k.Full, "question", until)) && now.Before(time.Unix(second, 0))
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// offer is what the server says to a page that looks for it: proofs for either rights.
type offer struct {
	Question string   `json:"question"`
	Proofs   []string `json:"proofs"`
}

// reunite answers pages at /key/lasting, which have a key and want the secret for later, and at /key/again, which had
// one from an earlier server.
func (g *Guard) reunite(w http.ResponseWriter, r *http.Request) bool {
	a := g.access.Load()
	switch {
	case r.Method != http.MethodPost:
		return false
	case r.URL.Path == "/key/lasting":
		g.lasting(w, r, a)
		return true
	case r.URL.Path != "/key/again":
		return false
	}
	nonce, place := r.URL.Query().Get("nonce"), placeOf(r)
	switch answer := r.URL.Query().Get("proof"); {
	case len(nonce) < 16 || len(nonce) > maxNonce || a.Full == "" || a.Read == "":
		problem.New(http.StatusForbidden, "a page that looks for its server sends a nonce").Write(w)
	case answer == "":
		x := offer{Question: a.keys.question(time.Now())}
		for _, token := range []string{a.Full, a.Read} {
			x.Proofs = append(x.Proofs, seal(pageSecret(token), "server", nonce, x.Question, place))
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(x) // the page may be gone
	default:
		g.again(w, r, a, shownProof{nonce, r.URL.Query().Get("question"), place, answer})
	}
	return true
}

// shownProof is what a page says to prove that it has a secret.
type shownProof struct{ nonce, question, place, proof string }

// again gives a page that has proved what it had a key of this server.
func (g *Guard) again(w http.ResponseWriter, r *http.Request, a *access, said shownProof) {
	for token, key := range map[string]string{a.Full: a.keys.Full, a.Read: a.keys.Read} {
		if a.keys.asked(said.question, time.Now()) &&
			same(said.proof, seal(pageSecret(token), "page", said.nonce, said.question, said.place)) {
			plainText(w, key)
			return
		}
	}
	if !g.mayGuess(r.RemoteAddr) {
		problem.New(http.StatusTooManyRequests, "too many wrong proofs from this address; try again in a "+
			"second").Write(w)
		return
	}
	problem.New(http.StatusForbidden, "this page was opened with another token, or at another address: open the URL "+
		"that tunehost has printed").Write(w)
}

// lasting gives a page the secret that goes with its key.
func (g *Guard) lasting(w http.ResponseWriter, r *http.Request, a *access) {
	token := map[rights]string{steering: a.Full, reading: a.Read}[a.keys.of(shown(r))]
	if token == "" {
		problem.New(http.StatusForbidden, "this is not the key of a page").Write(w)
		return
	}
	plainText(w, pageSecret(token))
}

func plainText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text) // the page may be gone
}

// placeOf is the origin of a request as this server knows it, whatever the request says. With TLS the browser knows by
// the certificate whose name that is.
func placeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + strings.ToLower(r.Host)
	}
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if at == nil {
		return ""
	}
	here, err := netip.ParseAddrPort(at.String())
	if err != nil {
		return ""
	}
	return "http://" + netip.AddrPortFrom(here.Addr().Unmap(), here.Port()).String()
}
