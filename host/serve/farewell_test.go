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
		time.Sleep(time.Hour)
		if waits(t.Context()) {
			t.Error("it waits for a page that was closed long ago")
		}
	})
}
