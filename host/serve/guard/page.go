package guard

import (
	"io"
	"net/http"
	"strings"
)

// askPage is for a person whose browser has no token. It has no script and no style: the policy of the server holds.
const askPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>A token is needed · tunehost</title>
</head>
<body>
<h1>A token is needed</h1>
<p>This browser has no token of this server, or one that is no longer valid.</p>
<p>Open the whole URL that <code>tunehost serve</code>, or <code>tunehost run --serve</code>, has printed in its
terminal when it started. It ends with <code>/?token=…</code>.</p>
<p>If that is out of sight: the user who started the server finds the token in the file
<code>~/.config/tunehost/serve-token</code> on that machine. Add <code>/?token=</code> and the token to the address of
this page.</p>
</body>
</html>
`

// browses reports whether a person asks for a page: programs do not ask for HTML.
func browses(r *http.Request) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	return reads && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// askPerson tells a person where the URL with the token is.
func askPerson(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = io.WriteString(w, askPage) // the reader may be gone
}
