package web

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed dist
var dist embed.FS

// Script, Style and Page are the bundle: a page that loads the other two.
const (
	Script = "app.js"
	Style  = "app.css"
	Page   = "index.html"
)

// types are those of the files of the bundle; a machine's own table may say something else.
var types = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8", ".svg": "image/svg+xml"}

// File returns a file of the bundle.
func File(name string) ([]byte, error) { return fs.ReadFile(dist, "dist/"+name) }

// packed returns a file of the bundle and, if it is smaller, its compressed form.
var packed = func() func(string) (file, error) {
	var known sync.Map
	return func(name string) (file, error) {
		if f, ok := known.Load(name); ok {
			return f.(file), nil
		}
		f, err := pack(name)
		if err == nil {
			known.Store(name, f)
		}
		return f, err
	}
}()

// file is one of the bundle.
type file struct{ plain, gzip []byte }

func pack(name string) (f file, err error) {
	if f.plain, err = File(name); err != nil {
		return f, err
	}
	if name == Page {
		f.plain = addressed(f.plain)
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if _, err = w.Write(f.plain); err == nil {
		err = w.Close()
	}
	f.gzip = b.Bytes()
	return f, err
}

// addressed is the page with addresses of script and style that nobody knows before this process runs: a browser may
// have others in its cache, from a program that had the port earlier.
func addressed(page []byte) []byte {
	for _, name := range []string{Script, Style} {
		page = bytes.ReplaceAll(page, []byte(`"`+name+`"`), []byte(`"`+name+"?"+rand.Text()+`"`))
	}
	return page
}

// Handler answers requests for the files of the dashboard.
func Handler() http.Handler { return http.HandlerFunc(serve) }

func serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "pages are only read", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = Page
	}
	f, err := packed(name)
	if err != nil {
		http.Error(w, "there is no such page; the dashboard begins at /", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", types[path.Ext(name)])
	w.Header().Set("Vary", "Accept-Encoding")
	body := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		body = f.gzip
	}
	_, _ = w.Write(body)
}
