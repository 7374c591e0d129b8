package browser

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tunehost/tunehost/internal/testplace"
)

// stranger is a server of another user of the machine, who keeps what browsers say.
type stranger struct {
	mu     sync.Mutex
	asked  int
	cookie string
	keys   []string
}

func (s *stranger) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	s.cookie += r.Header.Get("Cookie")
	if key := r.Header.Get("Authorization"); key != "" {
		s.keys = append(s.keys, key)
	}
}

func (s *stranger) said() (asked int, cookie string, keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.cookie, s.keys
}

// B-142: a server of somebody else, at another port or at the port that a server has left, learns nothing from a
// browser that gives access to the user's servers.
func TestStrangersPorts(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	server := start(t, dir, "serve", "--listen", "127.0.0.1:0")
	right, err := url.Parse(server.url())
	if err != nil {
		t.Fatal(err)
	}
	var other, later stranger
	another := httptest.NewServer(&other)
	t.Cleanup(another.Close)
	p.open(another.URL)
	p.open(right.String())
	p.shows("main", "There is no experiment yet")
	p.open(another.URL)
	if asked, cookie, keys := other.said(); asked == 0 || cookie != "" || len(keys) > 0 {
		t.Errorf("%d requests, cookie %q, keys %q", asked, cookie, keys)
	}
	p.open("http://" + right.Host + "/")
	p.shows("main", "There is no experiment yet")
	server.kill()
	l, err := net.Listen("tcp", right.Host)
	if err != nil {
		t.Fatal(err)
	}
	freed := httptest.NewUnstartedServer(&later)
	freed.Listener = l
	freed.Start()
	t.Cleanup(freed.Close)
	testplace.Soon(t, "what the page asks for", func() bool {
		_, _, keys := later.said()
		return len(keys) > 0
	})
	_, cookie, keys := later.said()
	token := right.Query().Get("token")
	if cookie != "" || strings.Contains(keys[0], token) {
		t.Fatalf("cookie %q, key %q", cookie, keys[0])
	}
	next, err := url.Parse(start(t, dir, "serve", "--listen", "127.0.0.1:0").url())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(dir, "config", "tunehost", "serve-token"))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]int{keys[0]: http.StatusUnauthorized, "Bearer " + token: http.StatusUnauthorized,
		"Bearer " + strings.TrimSpace(string(kept)): http.StatusOK} {
		address := "http://" + next.Host + "/api/v1/experiments"
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", key)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("the next server answers %d, want %d", answer.StatusCode, want)
		}
	}
}
