package browser

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// Behind a reverse proxy with a prefix the dashboard works, and asks nothing of the proxy's other applications: what it
// would ask has a ticket or the key (B-142).
func TestProxyWithPrefix(t *testing.T) {
	p := window(t)
	dir := finished(t)
	at, err := url.Parse(start(t, dir, "serve", "results", "--listen", "127.0.0.1:0").url())
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	server := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: at.Host})
	mux.Handle("/tune/", http.StripPrefix("/tune", server))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("another application is asked for %s", r.URL)
		http.NotFound(w, r)
	})
	proxy := httptest.NewServer(mux)
	defer proxy.Close()
	p.open(proxy.URL + "/tune/?" + at.RawQuery + "#/")
	p.shows("#main", "quickstart")
	p.view("#/x/quickstart/overview")
	p.await(`document.querySelector("#best-value")?.textContent > ""`)
	p.await(`location.pathname === "/tune/" && location.search === ""`)
	p.clean()
}
