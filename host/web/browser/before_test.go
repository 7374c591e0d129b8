package browser

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// before is a server of another user who has the port before the user's server. It leaves pages and a script in the
// browser's cache, and a service worker.
type before struct{ worker string }

const planting = `<!doctype html><body>planting<script>
navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready)
	.then(() => Promise.all(["/planted", "/app.js", "/"].map((at) => fetch(at, {cache: "reload"}))))
	.then(() => document.body.textContent = "it has been left");
</script>`

func (b before) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	switch r.URL.Path {
	case "/worker.js":
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, b.worker)
	case "/app.js":
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, `document.body.textContent = "a script of somebody else";`)
	case "/plant":
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, planting)
	default:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><body>a page of somebody else`)
	}
}

// planted opens a page of the server that has the port before, and starts the user's server at that port then. It
// returns the URL that is printed.
func planted(t *testing.T, p *page, worker string) (*url.URL, string) {
	t.Helper()
	earlier := httptest.NewServer(before{worker})
	leave(p, earlier)
	host := strings.TrimPrefix(earlier.URL, "http://")
	printed := start(t, t.TempDir(), "serve", "--listen", host).url()
	at, err := url.Parse(printed)
	if err != nil || at.Host != host {
		t.Fatal(printed, err)
	}
	return at, printed
}

// leave lets a server leave what it can in the browser, and ends it.
func leave(p *page, earlier *httptest.Server) {
	p.t.Helper()
	p.open(earlier.URL + "/plant")
	p.shows("body", "it has been left")
	p.open(earlier.URL + "/planted")
	p.shows("body", "somebody else")
	p.open("about:blank")
	earlier.CloseClientConnections()
	earlier.Close()
}

// noWorkers waits until the origin of the page has no service worker.
func (p *page) noWorkers() {
	p.t.Helper()
	p.await(`(navigator.serviceWorker.getRegistrations().then((all) => { window.workers = all.length; }),
		window.workers === 0)`)
}

// B-142: what an earlier program at the port has left in the browser is gone when the URL of the server is opened: none
// of it runs beside the key.
func TestPortBefore(t *testing.T) {
	p := window(t)
	at, printed := planted(t, p, `self.addEventListener("fetch", () => {});`)
	p.open(printed)
	p.shows("main", "There is no experiment yet")
	p.noWorkers()
	for _, path := range []string{"/planted", "/plant"} {
		p.open("http://" + at.Host + path)
		p.shows("body", "there is no such page")
	}
	p.open("http://" + at.Host + "/")
	p.shows("main", "There is no experiment yet")
}

// B-142: a service worker that answers in the place of the server ends as soon as the browser looks for a newer one.
func TestWorkerBefore(t *testing.T) {
	p := window(t)
	_, printed := planted(t, p, answering)
	p.open(printed)
	p.noWorkers()
	p.open(printed)
	p.shows("main", "There is no experiment yet")
}

// answering is a service worker that answers in the place of the server.
const answering = `self.addEventListener("fetch", (event) => event.respondWith(
	new Response("a worker of somebody else", {headers: {"Content-Type": "text/html"}})));`

// B-142: a service worker that an earlier program has left at the usual port does not see the printed URL, whose
// address nobody had before.
func TestWorkerAtTheUsualPort(t *testing.T) {
	p := window(t)
	if l, err := net.Listen("tcp", "127.0.0.1:7733"); err == nil {
		earlier := httptest.NewUnstartedServer(before{answering})
		_ = earlier.Listener.Close()
		earlier.Listener = l
		earlier.Start()
		leave(p, earlier)
	} // otherwise this server has another port, too
	t.Setenv("SSH_CONNECTION", "")
	t.Setenv("WSL_DISTRO_NAME", "")
	p.open(start(t, t.TempDir(), "serve").url())
	p.shows("main", "There is no experiment yet")
	p.await(`location.hostname !== "127.0.0.1"`)
	p.clean()
}

// B-142: the key of a page is not in the storage of localhost, which another user may share.
func TestLocalhost(t *testing.T) {
	p := window(t)
	printed := start(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0").url()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(strings.Split(printed, "/?")[0], "http://"))
	if err != nil {
		t.Fatal(err)
	}
	p.open(strings.Replace(printed, "127.0.0.1", "localhost", 1))
	p.shows("main", "There is no experiment yet")
	p.await(fmt.Sprintf(`["127.0.0.1:%s", "[::1]:%[1]s"].includes(location.host) &&
		localStorage.getItem("tunehost-key")`, port))
	p.open("http://localhost:" + port + "/")
	p.shows("main", "a token is needed")
	p.await(`localStorage.getItem("tunehost-key") === null`)
}
