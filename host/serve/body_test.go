package serve_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// A body is JSON, and says so, for each request that changes something; a request without a body needs no type.
func TestContentType(t *testing.T) {
	c := serving(t, recorded(t))
	send := func(path, media, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+"/api/v1/experiments"+path,
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.token)
		if media != "" {
			r.Header.Set("Content-Type", media)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		return a.StatusCode, a.Header.Get("Content-Type")
	}
	for _, path := range []string{"", "/digits/stop", "/digits/trials", "/digits/trials/3/pause", "/digits/ask"} {
		for media, refused := range map[string]bool{"": true, "text/plain": true, "application/jsonx": true,
			"application/x-www-form-urlencoded": true, "application/json; charset=latin1": true, "json;;": true,
			"application/json": false, "Application/JSON; charset=UTF-8": false} {
			status, answer := send(path, media, `{}`)
			if (status == http.StatusUnsupportedMediaType) != refused || answer != "application/problem+json" {
				t.Errorf("%s as %q: %d %s", path, media, status, answer)
			}
		}
	}
	if status, _ := send("/digits/stop", "text/plain", ""); status != http.StatusConflict {
		t.Errorf("without a body: %d", status)
	}
}

// What is no text is not replaced, and a number without room is told in the words of the API.
func TestBodiesThatCannotBeRead(t *testing.T) {
	c := serving(t, recorded(t))
	for body, want := range map[string]string{
		"{\"params\":{\"lr\":\"\xff\"}}": "body: byte 18 is a byte that is not UTF-8: JSON is text in UTF-8",
		`{"params":{"lr":"\ud800"}}`:     `body: byte 18 is half of a surrogate pair, \ud800: JSON is text in UTF-8`,
		`{"params":{"lr":1e400}}`:        "body: the number 1e400 is too large",
		`{"params":{"lr":-1` + strings.Repeat("0", 400) + `}}`: "body: the number -1" + strings.Repeat("0", 38) +
			" is too large",
	} {
		a, text := c.send("POST", "/digits/trials", body)
		if a.StatusCode != http.StatusBadRequest || !strings.Contains(text, asJSON(t, want)) {
			t.Errorf("%q: %d %s, want %s", body, a.StatusCode, text, want)
		}
	}
	for _, number := range []string{"1e30", "9223372036854775808"} {
		a, text := c.send("POST", "/digits/trials/3/report", `{"attempt":`+number+`,"iteration":1,"metrics":{"a":1}}`)
		if a.StatusCode != http.StatusUnprocessableEntity ||
			!strings.Contains(text, "attempt: the number "+number+" is too large") {
			t.Errorf("%s: %d %s", number, a.StatusCode, text)
		}
	}
}

func asJSON(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
