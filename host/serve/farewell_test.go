package serve_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tunehost/tunehost/host/serve"
	"github.com/tunehost/tunehost/host/serve/guard"
)

// A server whose experiment has ended waits for pages that are open, and for nobody else.
func TestFarewell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve.New(serve.Options{Folders: []string{t.TempDir()}, Guard: guard.Options{Tokens: tokens}})
		handler := s.Handler()
		ask := func(token string) {
			r := httptest.NewRequest(http.MethodGet, "http://localhost/api/v1/experiments", nil)
			r.Header.Set("Authorization", "Bearer "+token)
			handler.ServeHTTP(httptest.NewRecorder(), r)
		}
		waits := func(ctx context.Context) bool {
			began := time.Now()
			s.Farewell(ctx)
			return time.Since(began) > 0
		}
		if waits(t.Context()) {
			t.Error("it waits, but nobody has asked")
		}
		ask("wrong")
		if waits(t.Context()) {
			t.Error("it waits for somebody without a token")
		}
		ask(tokens.Read)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if waits(over) {
			t.Error("it waits although it was told to end")
		}
		if !waits(t.Context()) {
			t.Error("it does not wait for a page that has just asked")
		}
		ask(tokens.Read)
		if d := late(s, 6*time.Second, func() { ask(tokens.Read) }); d < 8*time.Second || d > 10*time.Second {
			t.Errorf("a page that asks 6 s after the end has %v in all", d)
		}
		ask(tokens.Read)
		if d := late(s, time.Hour, nil); d > 10*time.Second {
			t.Errorf("it waits %v for a page that was closed", d)
		}
		time.Sleep(time.Hour)
		if waits(t.Context()) {
			t.Error("it waits for a page that was closed long ago")
		}
	})
}

// late is how long a server waits whose page asks some time after the end.
func late(s *serve.Server, after time.Duration, ask func()) time.Duration {
	if ask != nil {
		time.AfterFunc(after, ask)
	}
	began := time.Now()
	s.Farewell(context.Background())
	return time.Since(began)
}
