package browser

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// A page behind a proxy whose server is gone says that, and nothing of the proxy's own page.
func TestProxyWithoutServer(t *testing.T) {
	p := window(t)
	at, err := url.Parse(start(t, finished(t), "serve", "results", "--listen", "127.0.0.1:0").url())
	if err != nil {
		t.Fatal(err)
	}
	server := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: at.Host})
	var gone atomic.Bool
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !gone.Load() {
			server.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte("<html><head><title>502 Bad Gateway</title></head></html>"))
	}))
	defer proxy.Close()
	p.open(proxy.URL + "/?" + at.RawQuery + "#/")
	p.shows("#main", "quickstart")
	gone.Store(true)
	p.shows("main .lost", "the server is gone (502)")
	p.await(`!document.querySelector("main").textContent.includes("<html>")`)
}
