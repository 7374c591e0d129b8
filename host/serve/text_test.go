package serve_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tunehost/tunehost/host/jsontext"
	"github.com/tunehost/tunehost/host/view"
)

// What a program prints and is no text is replaced, also where a long line comes in parts; what only looks like half of
// a character stays.
func TestPrintedIsText(t *testing.T) {
	root := recorded(t)
	c := serving(t, root)
	e, err := view.Open(filepath.Join(root, "digits"))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	name, _ := e.Config.Log.Files()
	long := "x" + strings.Repeat("é", 1<<20) // a part ends within a character
	for printed, want := range map[string]string{
		"{\"a\": \"\\ud800\"} \xed\xa0\x80 \xff\n": "{\"a\": \"\\ud800\"} \uFFFD \uFFFD\n",
		long:           long,
		"the end \xc3": "the end \uFFFD",
		"\xc3":         "\uFFFD",
	} {
		if err := os.WriteFile(filepath.Join(e.Trial(3).Dir, name), []byte(printed), 0o600); err != nil {
			t.Fatal(err)
		}
		a, text := c.send("GET", "/digits/trials/3/log", "")
		if a.StatusCode != http.StatusOK || text != want {
			t.Errorf("%.40q: %d, %.60q of %d bytes, want %d", printed, a.StatusCode, text, len(text), len(want))
		}
	}
}

// Halves of surrogate pairs are refused wherever a request has them, with an answer that is JSON in UTF-8; what a path
// or a query names comes back as text.
func TestHalfCharacters(t *testing.T) {
	c := serving(t, recorded(t))
	for _, x := range []struct{ method, path, body string }{
		{"POST", "/digits/trials", `{"params":{"tag":"\ud800"}}`},
		{"POST", "/digits/trials", `{"params":{"\udfff":1}}`},
		{"POST", "/digits/trials", `{"params":{"tag":"\udc00\ud800"}}`},
		{"POST", "/digits/trials", "{\"params\":{\"tag\":\"\xed\xa0\x80\"}}"},
		{"POST", "/digits/trials/1/clone", `{"params":{"tag":"\ud83d"}}`},
		{"PATCH", "/digits/settings", `{"\ud800":1}`},
		{"PATCH", "/digits/settings", `{"trials":"\ud800"}`},
		{"POST", "", `{"file":"version: 1 # \ud800"}`},
		{"POST", "/digits/trials/1/report", `{"attempt":1,"metrics":{"\ud800":1}}`},
		{"POST", "/digits/trials/1/tell", `{"attempt":1,"failed":"\ud800"}`},
	} {
		a, text := c.send(x.method, x.path, x.body)
		if a.StatusCode != http.StatusBadRequest || !isText(text) || !strings.Contains(text, "JSON is text in UTF-8") {
			t.Errorf("%s %s %s: %d %s", x.method, x.path, x.body, a.StatusCode, text)
		}
	}
	if a, text := c.send("POST", "/digits/trials", `{"params":{"tag":"\ud83d\ude00"}}`); !isText(text) ||
		strings.Contains(text, "UTF-8") {
		t.Errorf("a whole pair: %d %s", a.StatusCode, text)
	}
	for _, path := range []string{"/%ED%A0%80", "/digits/trials/%FF", "/digits/trials?where=%ED%A0%80%3E1",
		"/digits/trials?sort=%FF", "/digits/trials?%FF=1", "/digits/trials?state=%ED%A0%80", "/digits/best?metric=%FF",
		"/digits/trials?fields=%FF", "/digits/journal?trial=%ED%A0%80"} {
		if a, text := c.send("GET", path, ""); a.StatusCode < 400 || a.StatusCode >= 500 || !isText(text) {
			t.Errorf("%s: %d %q", path, a.StatusCode, text)
		}
	}
}

// isText reports whether an answer is JSON in UTF-8, without half characters.
func isText(answer string) bool {
	var x any
	half, _ := jsontext.NotText([]byte(answer))
	return utf8.ValidString(answer) && json.Unmarshal([]byte(answer), &x) == nil && half == ""
}
