package guard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var tokens = Tokens{Full: strings.Repeat("f", 52), Read: strings.Repeat("r", 52)}

// hello says which request has reached it, after it has read the body.
var hello = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if _, err := io.ReadAll(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	fmt.Fprint(w, "hello")
})

func ask(g http.Handler, method, path string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:7733"+path, nil)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

func bearer(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

// TestTokens covers B-142: without a token nothing can be read, and with the one for reading nothing can
// be changed.
func TestTokens(t *testing.T) {
	for _, x := range []struct {
		name, method string
		change       func(*http.Request)
		want         int
	}{
		{"no token", "GET", nil, 401},
		{"the full token", "POST", bearer(tokens.Full), 200},
		{"the reading token reads", "GET", bearer(tokens.Read), 200},
		{"the reading token changes", "POST", bearer(tokens.Read), 403},
		{"the reading token patches", "PATCH", bearer(tokens.Read), 403},
		{"an empty token", "GET", bearer(""), 401},
		{"a part of the token", "GET", bearer(tokens.Full[:51]), 401},
		{"a longer token", "GET", bearer(tokens.Full + "f"), 401},
		{"another scheme", "GET", func(r *http.Request) { r.SetBasicAuth("u", tokens.Full) }, 401},
		{"a cookie", "GET", func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: "tunehost_7733", Value: tokens.Full})
		}, 401},
		{"a token in the URL of the API", "GET", func(r *http.Request) {
			r.URL.RawQuery = "token=" + tokens.Full
		}, 401},
	} {
		w := ask(New(Options{Tokens: tokens}, hello), x.method, "/api/v1/experiments", x.change)
		if w.Code != x.want {
			t.Errorf("%s: %d %s, want %d", x.name, w.Code, w.Body, x.want)
		}
	}
}

// B-142: a person without a token, or with a wrong one, gets a page that says where the URL is; a program gets the
// problem document, and so does whatever would change something. The page has nothing that the policy would refuse.
func TestAskPerson(t *testing.T) {
	g := New(Options{Tokens: tokens}, hello)
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, x := range []struct {
		method, path, accept, want string
	}{
		{"GET", "/?token=wrong", browser, "text/html; charset=utf-8"},
		{"GET", "/api/v1/experiments", browser, "text/html; charset=utf-8"},
		{"GET", "/?token=wrong", "*/*", "application/problem+json"},
		{"GET", "/api/v1/experiments", "*/*", "application/problem+json"},
		{"GET", "/api/v1/experiments", "", "application/problem+json"},
		{"POST", "/api/v1/experiments", browser, "application/problem+json"},
	} {
		w := ask(g, x.method, x.path, func(r *http.Request) { r.Header.Set("Accept", x.accept) })
		if w.Code != http.StatusUnauthorized || w.Header().Get("Content-Type") != x.want ||
			w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%s %s, %q: %d %v", x.method, x.path, x.accept, w.Code, w.Header())
		}
		text := w.Body.String()
		says := strings.Contains(text, "tunehost serve") && strings.Contains(text, "serve-token")
		refused := strings.Contains(text, "<script") || strings.Contains(text, "style=")
		if strings.HasPrefix(x.want, "text/html") && (!says || refused) {
			t.Errorf("%s: %s", x.path, text)
		}
	}
}

// visited opens a page with a token, and returns the key that the page gets.
func visited(t *testing.T, g http.Handler, token string) string {
	t.Helper()
	w := ask(g, "GET", "/trials?a=b&token="+token, nil)
	to := w.Header().Get("Location")
	rest, ticket, found := strings.Cut(to, "ticket=")
	if w.Code != http.StatusSeeOther || !found || rest != "?a=b&" || strings.Contains(to, token) ||
		w.Header().Get("Set-Cookie") != "" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	key := ask(g, "POST", "/key?ticket="+ticket, nil)
	again := ask(g, "POST", "/key?ticket="+ticket, nil)
	if key.Code != http.StatusOK || again.Code != http.StatusForbidden {
		t.Errorf("the ticket: %d, once more: %d", key.Code, again.Code)
	}
	return key.Body.String()
}

// B-142: a page has a key in place of the token. The key has the token's rights. It gives nothing at another server,
// also of the same user: a program that gets the port after the server has ended can do nothing with it.
func TestKeys(t *testing.T) {
	g, later := New(Options{Tokens: tokens}, hello), New(Options{Tokens: tokens}, hello)
	for token, change := range map[string]int{tokens.Full: 200, tokens.Read: 403} {
		key := visited(t, g, token)
		for _, x := range []struct {
			g      http.Handler
			method string
			want   int
		}{{g, "GET", 200}, {g, "POST", change}, {later, "GET", 401}, {later, "POST", 401}} {
			if w := ask(x.g, x.method, "/api/v1/experiments", bearer(key)); w.Code != x.want {
				t.Errorf("%s: %d, want %d", x.method, w.Code, x.want)
			}
		}
	}
}

// An editor that saved a file of a token may have put a byte order mark before it.
func TestTokenAfterByteOrderMark(t *testing.T) {
	dir := t.TempDir()
	old, err := Load(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, fullName), []byte("\ufeff"+old.Full+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if now, err := Load(dir, false); err != nil || now.Full != old.Full {
		t.Errorf("another token, %v", err)
	}
}

// B-142: new tokens hold at once, at servers that run already, too, and end the keys of their pages.
func TestNewTokens(t *testing.T) {
	dir := t.TempDir()
	old, err := Load(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	printed := NewTokens()
	g := New(Options{Tokens: old, Printed: printed, Folder: dir}, hello)
	key := visited(t, g, printed.Full)
	fresh, err := Load(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	g.looked = time.Time{} // as if some time had passed
	for token, want := range map[string]int{fresh.Full: 200, fresh.Read: 200, old.Full: 401, old.Read: 401, key: 401,
		printed.Full: 401, printed.Read: 401} {
		if w := ask(g, "GET", "/api/v1/experiments", bearer(token)); w.Code != want {
			t.Errorf("%d, want %d", w.Code, want)
		}
	}
	if err := os.Remove(filepath.Join(dir, fullName)); err != nil {
		t.Fatal(err)
	}
	g.looked = time.Time{}
	if w := ask(g, "GET", "/api/v1/experiments", bearer(fresh.Full)); w.Code != 200 {
		t.Errorf("without the file: %d", w.Code)
	}
}

// B-142: the files of the dashboard are for everybody, and tell nothing; a wrong token gets none of them.
func TestPublic(t *testing.T) {
	g := New(Options{Tokens: tokens}, hello)
	for path, want := range map[string]int{"/": 200, "/app.js": 200, "/?token=wrong": 401, "/?token=": 200,
		"//evil.example/": 200, "/api/openapi.json": 401} {
		if w := ask(g, "GET", path, nil); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	w := ask(g, "GET", "//evil.example/?token="+tokens.Full, nil)
	if strings.HasPrefix(w.Header().Get("Location"), "//") {
		t.Errorf("the first visit leads to %s", w.Header().Get("Location"))
	}
}

// Tickets that nobody shows end, and are not kept without bound.
func TestTickets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeys()
		old := k.ticket(steering)
		time.Sleep(ticketTime + time.Second)
		for range 10 * mostTickets {
			k.ticket(reading)
		}
		if key := k.enter(old); key != "" || k.enter("") != "" || len(k.tickets) > mostTickets {
			t.Errorf("%q, %d tickets", key, len(k.tickets))
		}
	})
}

// TestStrangers covers B-142: foreign hosts and origins are refused, also with the right token.
func TestStrangers(t *testing.T) {
	g := New(Options{Tokens: tokens, Hosts: []string{"tuner.example"}}, hello)
	for _, x := range []struct {
		method, host, origin, site string
		want                       int
	}{
		{"GET", "localhost:7733", "", "", 200}, {"GET", "[::1]:7733", "", "", 200}, {"GET", "127.0.0.1", "", "", 200},
		{"GET", "tuner.example:80", "", "", 200}, {"GET", "TUNER.example.", "", "", 200},
		{"GET", "evil.example", "", "", 421}, {"GET", "localhost.evil.example", "", "", 421}, {"GET", "", "", "", 421},
		{"POST", "127.0.0.1:7733", "http://127.0.0.1:7733", "same-origin", 200},
		{"POST", "127.0.0.1:7733", "http://127.0.0.1:7733", "", 200},
		{"POST", "127.0.0.1:7733", "http://127.0.0.1:8000", "", 403},
		{"POST", "127.0.0.1:7733", "http://evil.example", "", 403},
		{"POST", "127.0.0.1:7733", "null", "", 403},
		{"POST", "127.0.0.1:7733", "https://127.0.0.1:7733", "", 403},
		{"POST", "tuner.example", "https://tuner.example", "same-origin", 200}, // before a proxy with TLS
		{"POST", "127.0.0.1:7733", "http://evil.example", "cross-site", 403},
	} {
		w := ask(g, x.method, "/api/v1/experiments", func(r *http.Request) {
			bearer(tokens.Full)(r)
			r.Host = x.host
			for key, value := range map[string]string{"Origin": x.origin, "Sec-Fetch-Site": x.site} {
				if value != "" {
					r.Header.Set(key, value)
				}
			}
		})
		if w.Code != x.want {
			t.Errorf("%+v: %d", x, w.Code)
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Error("another site may read the answer")
		}
		if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") ||
			strings.Contains(csp, "unsafe") {
			t.Errorf("the policy is %q", csp)
		}
	}
}

// TestGuessing: wrong tokens are answered slower and slower, and do not keep out who has the right one.
func TestGuessing(t *testing.T) {
	g := New(Options{Tokens: tokens}, hello)
	last := 0
	for range wrongBurst + 5 {
		last = ask(g, "GET", "/", bearer("wrong")).Code
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("after %d wrong tokens: %d", wrongBurst+5, last)
	}
	if w := ask(g, "GET", "/", bearer(tokens.Full)); w.Code != 200 {
		t.Errorf("with the right token: %d", w.Code)
	}
}

// TestLargeRequests: bodies and headers have limits.
func TestLargeRequests(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.Config = Server(New(Options{Tokens: tokens}, hello))
	s.Start()
	defer s.Close()
	send := func(body io.Reader, header string) int {
		r, err := http.NewRequest("POST", s.URL+"/", body)
		if err != nil {
			t.Fatal(err)
		}
		bearer(tokens.Full)(r)
		r.Header.Set("X-Long", header)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0
		}
		a.Body.Close()
		return a.StatusCode
	}
	if got := send(strings.NewReader(strings.Repeat("x", MaxBodyBytes)), ""); got != 200 {
		t.Errorf("the largest body: %d", got)
	}
	if got := send(io.LimitReader(endless{}, 64<<20), ""); got != 413 && got != 0 {
		t.Errorf("an endless body: %d", got)
	}
	if got := send(nil, strings.Repeat("x", 1<<20)); got != 431 && got != 0 {
		t.Errorf("a header of 1 MiB: %d", got)
	}
}

// A client that goes on sending a header that is too long gets the answer whole, and then the end: no reset, by which
// it would lose the answer.
func TestRefusedInOrder(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Server(New(Options{Tokens: tokens}, hello))
	go func() { _ = s.Serve(Room(l, 4)) }()
	defer s.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\nX-Long: ")
	for range 40 {
		if _, err := io.WriteString(c, strings.Repeat("x", 100_000)); err != nil {
			t.Fatalf("what is left of the request is not taken: %v", err)
		}
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 431 ") {
		t.Errorf("%q, %v", answer, err)
	}
}

// TestUnreadable: what arrives badly is told apart, and a request without a token is answered before its body.
func TestUnreadable(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.Config = Server(New(Options{Tokens: tokens}, hello))
	s.Start()
	defer s.Close()
	with := "Authorization: bearer " + tokens.Full + "\r\n"
	for _, x := range []struct{ head, body, want string }{
		{with + "Transfer-Encoding: chunked\r\n", "zz\r\n", "400"},
		{with + "Content-Length: 3000000\r\n", strings.Repeat("x", MaxBodyBytes+1), "413"},
		{"Content-Length: 100000\r\n", "", "401"},
		{"Transfer-Encoding: chunked\r\n", "", "401"},
		{with + "Content-Length: 1\r\n", "x", "200"},
		{with + "Content-Length: 99999999999\r\n", "", "413"}, // at once: nothing is read
		{with + with, "", "400"},
		{with + "Authorization: bearer " + tokens.Read + "\r\nContent-Length: 100000\r\n", "", "400"},
	} {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(BodyTimeout / 2)) // an answer does not wait for a body that does not come
		fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\n%s\r\n%s", x.head, x.body)
		a, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || strconv.Itoa(a.StatusCode) != x.want || x.want == "401" && !a.Close {
			t.Errorf("%.80q: %+v, %v, want %s", x.head, a, err, x.want)
		}
		_ = c.Close()
	}
}

// TestTwoLengths: after a request with a length in two ways, of which a proxy may take the other one, nothing more is
// read from the connection.
func TestTwoLengths(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.Config = Server(New(Options{Tokens: tokens}, hello))
	s.Start()
	defer s.Close()
	head := "POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + tokens.Full + "\r\n"
	next := head + "Content-Length: 0\r\n\r\n"
	for lengths, answers := range map[string]int{"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n": 1,
		"Content-Length: 5\r\n\r\n01234": 2} {
		_, in := dial(t, s.Listener, head+lengths+next)
		for i := range answers {
			a, err := http.ReadResponse(in, nil)
			if err != nil || a.StatusCode != http.StatusOK {
				t.Fatalf("%q: answer %d: %+v, %v", lengths, i+1, a, err)
			}
			if _, err := io.Copy(io.Discard, a.Body); err != nil || a.Close != (answers == 1) {
				t.Errorf("%q: answer %d: the connection is closed: %v, %v", lengths, i+1, a.Close, err)
			}
		}
		if answers > 1 {
			continue
		}
		if _, err := in.ReadByte(); err != io.EOF {
			t.Errorf("%q: after the answer: %v, want the end", lengths, err)
		}
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// TestSlowRequests: a request has a deadline for its header and for its body.
func TestSlowRequests(t *testing.T) {
	s := Server(hello)
	if s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.WriteTimeout <= 0 || s.IdleTimeout <= 0 ||
		s.MaxHeaderBytes != maxHeader {
		t.Errorf("a deadline is missing: %+v", s)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = Server(New(Options{Tokens: tokens}, hello))
	s.ReadHeaderTimeout, s.ReadTimeout = 50*time.Millisecond, 100*time.Millisecond // a test does not wait for longer
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	with := "POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + tokens.Full + "\r\n"
	for text, want := range map[string]string{with: "", with + "Content-Length: 10\r\n\r\nhalf": "408"} {
		_, r := dial(t, l, text)
		answer, _ := io.ReadAll(r) // until the server closes the connection
		if !strings.Contains(string(answer), want) || strings.Contains(string(answer), "hello") {
			t.Errorf("%q: %q", text, answer)
		}
	}
}

// dial opens a connection, and sends something.
func dial(t *testing.T, l net.Listener, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	fmt.Fprint(c, text)
	return c, bufio.NewReader(c)
}

// TestManyConnections: 1,000 connections that never end their header keep nobody out who has a token, and do not
// push out who has shown it.
func TestManyConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := Server(New(Options{Tokens: tokens}, hello))
	go func() { _ = server.Serve(Room(l, MaxConnections)) }()
	defer server.Close()
	visit := "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + tokens.Full + "\r\n\r\n"
	get := func(what string, r *bufio.Reader) {
		t.Helper()
		a, err := http.ReadResponse(r, nil)
		if err != nil || a.StatusCode != http.StatusOK {
			t.Fatalf("%s: %+v, %v", what, a, err)
		}
		_, _ = io.Copy(io.Discard, a.Body)
	}
	first, read := dial(t, l, visit)
	get("the first visitor", read)
	var oldest net.Conn
	for i := range 1000 {
		if c, _ := dial(t, l, "GET / HTTP/1.1\r\nHo"); i == 0 {
			oldest = c
		}
	}
	_, late := dial(t, l, visit)
	get("a late visitor", late)
	if _, err := oldest.Read(make([]byte, 1)); err == nil {
		t.Error("the oldest connection without a token is still open")
	}
	fmt.Fprint(first, visit)
	get("the first visitor again", read)
}

// TestTokensAreKept: tokens are random, only for the user, and the same for the next server.
func TestTokensAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tunehost")
	first, err := Load(dir, false)
	if err != nil || len(first.Full) < 40 || first.Full == first.Read {
		t.Fatal(first, err)
	}
	for _, name := range []string{fullName, readName} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if again, err := Load(dir, false); err != nil || again != first {
		t.Errorf("the second time: %v", err)
	}
	if fresh, err := Load(dir, true); err != nil || fresh.Full == first.Full || fresh.Read == first.Read {
		t.Errorf("new tokens: %v", err)
	}
	if err := os.Chmod(filepath.Join(dir, fullName), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, false); err == nil || !strings.Contains(err.Error(), "other users can access this token") {
		t.Errorf("a token that others can read: %v", err)
	}
}

// FuzzRequest checks that no request without a token gets through, whatever it says.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "/?token=x", "localhost", "http://localhost", "Bearer x", "tunehost_7733=x")
	f.Add("POST", "/api/v1/experiments", "[::1]:80", "null", "Basic x", `tunehost_7733="\x00"`)
	f.Add("PATCH", "//evil/?token=%zz", "a.b:c", "", "bearer", "=;=")
	g := New(Options{Tokens: tokens}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic("a request without a token got through")
	}))
	f.Fuzz(func(t *testing.T, method, target, host, origin, authorization, cookie string) {
		if strings.Contains(target+authorization+cookie, tokens.Full) {
			return
		}
		text := method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\nOrigin: " + origin +
			"\r\nAuthorization: " + authorization + "\r\nCookie: " + cookie + "\r\n\r\n"
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			return
		}
		r.RemoteAddr = "127.0.0.1:1234"
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		if w.Code < 400 {
			t.Errorf("%d", w.Code)
		}
	})
}

// B-142: a browser that shows its token forgets what an earlier program at this port has left for the origin, and gets
// its key at an address: at localhost, ::1 may be somebody else.
func TestOrigin(t *testing.T) {
	g := New(Options{Tokens: tokens}, hello)
	from := func(host, listens, through string) *httptest.ResponseRecorder {
		return ask(g, "GET", "/?token="+tokens.Full, func(r *http.Request) {
			r.Host = host
			r.Header.Set("X-Forwarded-For", through)
			at := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(listens))
			*r = *r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(at)))
		})
	}
	for _, x := range []struct{ host, listens, through, want string }{
		{"localhost:7733", "127.0.0.1:7733", "", "http://127.0.0.1:7733/?ticket="},
		{"LOCALHOST.:7733", "[::1]:7733", "", "http://[::1]:7733/?ticket="},
		{"localhost:8099", "127.0.0.1:7733", "", "?ticket="}, // a proxy that does not say so, or ssh -L
		{"localhost", "[::1]:80", "", "http://[::1]:80/?ticket="},
		{"localhost:7733", "172.17.0.2:7733", "", "?ticket="},
		{"127.0.0.1:7733", "127.0.0.1:7733", "", "?ticket="},
		{"localhost:8099", "127.0.0.1:7733", "127.0.0.1", "?ticket="}, // a proxy, perhaps at localhost:8099/tune/
	} {
		w := from(x.host, x.listens, x.through)
		if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || !strings.HasPrefix(to, x.want) {
			t.Errorf("%s at %s: %d %s, want %s", x.host, x.listens, w.Code, to, x.want)
		}
		if got := w.Header().Get("Clear-Site-Data"); got != `"cache", "storage"` {
			t.Errorf("the browser is to forget %s", got)
		}
	}
	if w := ask(g, "GET", "/?token=wrong", nil); w.Header().Get("Clear-Site-Data") != "" {
		t.Error("a page without the token can make a browser forget")
	}
}

// B-142: many tickets push out the oldest, and not the one that a page is about to show.
func TestManyTickets(t *testing.T) {
	k := newKeys()
	first := k.ticket(steering)
	var last string
	for range mostTickets {
		last = k.ticket(reading)
	}
	if k.enter(first) != "" || k.enter(last) != k.Read || len(k.tickets) > mostTickets {
		t.Errorf("%d tickets", len(k.tickets))
	}
	for range mostTickets - 1 {
		last = k.ticket(steering)
		k.ticket(reading)
		if k.enter(last) != k.Full {
			t.Fatal("the last but one is gone")
		}
	}
}

// A body that is packed is not read as if it were not.
func TestContentEncoding(t *testing.T) {
	for encoding, want := range map[string]int{"": 200, "identity": 200, "Identity": 200, "gzip": 415, "x": 415} {
		r := httptest.NewRequest("POST", "/api/v1/experiments", strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Content-Encoding", encoding)
		w := httptest.NewRecorder()
		JSON(hello).ServeHTTP(w, r)
		if w.Code != want || want == 415 && !strings.Contains(w.Body.String(), "Content-Encoding: ") {
			t.Errorf("%q: %d %s", encoding, w.Code, w.Body)
		}
	}
}
