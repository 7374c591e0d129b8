package guard

import (
	"cmp"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The storage of an origin has the key of a page, and a program that had the port before may have left something for
// the origin in the browser: pages in its cache, which would run beside the dashboard, or a service worker, which
// would answer in the place of the server. A browser that shows a token therefore forgets both (Clear-Site-Data),
// and the pages ask for scripts at addresses that nobody could know before (package web).

// dismissal is the script of a service worker that ends itself.
const dismissal = `self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.registration.unregister()));
`

// dismiss answers a browser that asks for the present script of a service worker. This server has none, so that it is
// one of an earlier server at this port. Without an answer it would stay.
func dismiss(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("Service-Worker") != "script" || r.Method != http.MethodGet {
		return false
	}
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = io.WriteString(w, dismissal) // the browser may be gone
	return true
}

// sameScheme compares what http.CrossOriginProtection leaves out: with HTTP the page of a site may be another's than
// with HTTPS. A browser that says where the page is from (Sec-Fetch-Site) has compared them, also those before a proxy.
func sameScheme(r *http.Request) bool {
	text := r.Header.Get("Origin")
	if text == "" || r.Header.Get("Sec-Fetch-Site") != "" || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	origin, err := url.Parse(text)
	return err == nil && origin.Scheme == schemeOf(r)
}

func schemeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// proxied reports whether a reverse proxy says that it passes on a request: only the browser knows the whole address.
func proxied(r *http.Request) bool {
	for name, values := range r.Header {
		told := strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" || name == "X-Real-Ip" || name == "Via"
		if told && !slices.Equal(values, []string{""}) {
			return true
		}
	}
	return false
}

// address is the host and port with the address in place of the name localhost; "": the request is to stay where it
// is. Pages at localhost are those of 127.0.0.1 and of ::1, where another user can listen at the same port and would
// read the key in their storage. At another port than the server's there is a proxy, or a tunnel of ssh: only the
// browser knows whether it has a prefix there, and whether it is at this address.
func address(r *http.Request) string {
	asked := url.URL{Host: r.Host}
	at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || r.TLS != nil || !strings.EqualFold(strings.TrimSuffix(asked.Hostname(), "."), "localhost") {
		return ""
	}
	listens, err := netip.ParseAddrPort(at.String())
	if err != nil || !listens.Addr().Unmap().IsLoopback() {
		return ""
	}
	port := cmp.Or(asked.Port(), "80")
	if port != strconv.Itoa(int(listens.Port())) {
		return ""
	}
	return net.JoinHostPort(listens.Addr().Unmap().String(), port)
}
