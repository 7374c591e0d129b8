package serve_test

import (
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
