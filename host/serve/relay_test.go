package serve_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/plugin/standard"
	"github.com/tunehost/tunehost/host/serve"
	"github.com/tunehost/tunehost/host/serve/guard"
	"github.com/tunehost/tunehost/host/serve/peers"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/steer/unixsock"
	"github.com/tunehost/tunehost/host/storage"
)

var printed = guard.Tokens{Full: strings.Repeat("p", 52), Read: strings.Repeat("q", 52)}

// beside is a server of the user who has a folder of keys. end ends it.
func beside(t *testing.T, keys, root string) (c client, end func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := serve.New(serve.Options{Folders: []string{root}, Guard: guard.Options{Tokens: tokens, Printed: printed},
		Registry: standard.Plugins(), Version: "test", Keys: keys})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	over := false
	end = func() {
		if stop(); !over {
			over = true
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(end)
	c = client{t, "http://" + l.Addr().String(), tokens.Full}
	c.get("") // it has told the others of itself
	return c, end
}

// TestRequestsReachTheServerOfTheWorkers: programs send their requests to the server that began last, which may have
// another folder, or the same one. The one that has the experiment open answers them.
func TestRequestsReachTheServerOfTheWorkers(t *testing.T) {
	keys, root, other := t.TempDir(), t.TempDir(), t.TempDir()
	first, endFirst := beside(t, keys, root)
	if g := first.post("", forWorkers); g.Status != 0 {
		t.Fatalf("%+v", g)
	}
	same, endSame := beside(t, keys, root)
	away, _ := beside(t, keys, other)
	for _, c := range []client{first, same, away} {
		mine := c.post("/w/ask", `{}`)
		for _, x := range []client{same, away, first} {
			if d := x.report(mine, 1); mine.Trial == "" || d.Decision == "" {
				t.Fatalf("asked %+v, reported %+v", mine, d)
			}
		}
		if d := c.post("/w/trials/"+mine.Trial+"/tell", `{"attempt":%d}`, mine.Attempt); !d.OK && d.Status != 409 {
			t.Errorf("told: %+v", d)
		}
		if a, text := c.send(http.MethodPost, "/w/trials", `{"params":{"x":0.5}}`); a.StatusCode != http.StatusOK {
			t.Errorf("added: %s %s", a.Status, text)
		}
		if a, text := c.send(http.MethodGet, "/w", ""); a.StatusCode != http.StatusOK ||
			len(a.Header.Values("Cache-Control")) != 1 {
			t.Errorf("the status: %s %v %s", a.Status, a.Header, text)
		}
	}
	// A user who was given a printed URL sees the folders of its server alone, and a token for reading changes nothing.
	for token, status := range map[string]int{printed.Full: 404, tokens.Read: 403, "x": 401} {
		away.token = token
		if a, text := away.send(http.MethodPost, "/w/ask", `{}`); a.StatusCode != status {
			t.Errorf("%.1s…: %s %s, want %d", token, a.Status, text, status)
		}
	}
	away.token = tokens.Full
	if g := away.post("/none/ask", `{}`); g.Status != http.StatusNotFound {
		t.Errorf("an experiment that nobody has: %+v", g)
	}

	endFirst() // the second one of its folder takes over, as soon as somebody asks any of them
	if g := away.post("/w/ask", `{}`); g.Status != 0 {
		t.Fatalf("%+v", g)
	}
	again, _ := beside(t, keys, root)
	for _, c := range []client{again, away, same} {
		if g := c.post("/w/ask", `{}`); g.Trial == "" {
			t.Errorf("asked %+v", g)
		}
	}
	endSame()
}

// Two folders may each have an experiment of that name: a server that has none does not choose one of them.
func TestExperimentsOfOneNameElsewhere(t *testing.T) {
	keys := t.TempDir()
	away, _ := beside(t, keys, t.TempDir())
	for i, want := range []int{0, http.StatusNotFound} {
		c, _ := beside(t, keys, t.TempDir())
		c.post("", forWorkers)
		if g := away.post("/w/ask", `{}`); g.Status != want {
			t.Errorf("with %d of them: %+v", i+1, g)
		}
	}
}

// TestServersThatAreNoMore: what a killed server has left does not hold up the others, and is removed; what others have
// put there is not spoken with.
func TestServersThatAreNoMore(t *testing.T) {
	keys, open := t.TempDir(), t.TempDir()
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	foreign, err := net.Listen("unix", filepath.Join(open, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	servers, machine := filepath.Join(keys, "servers"), peers.Machine()
	hostname, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"nonsense": "x", "far": `{"machine":"far away","socket":"/none/x"}`,
		"twin":    `{"machine":"` + hostname + ` another","socket":"/none/x"}`, // another machine of this name
		"earlier": `{"machine":"` + hostname + `","socket":"/none/x"}`,         // perhaps another: an earlier version
		"killed":  `{"machine":"` + machine + `","socket":"/none/x"}`,
		"foreign": `{"machine":"` + machine + `","socket":"` + foreign.Addr().String() + `"}`} {
		if err := os.MkdirAll(servers, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(servers, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, end := beside(t, keys, t.TempDir())
	began := time.Now()
	if g := c.post("/w/ask", `{}`); g.Status != http.StatusNotFound || time.Since(began) > 4*time.Second {
		t.Errorf("%+v after %v", g, time.Since(began))
	}
	end()
	left, err := os.ReadDir(servers)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "earlier far foreign nonsense twin" {
		t.Errorf("left are %s", got)
	}
}

// Commands steer an experiment for workers as they steer a host, while the server has it open.
func TestCommandsSteerExperimentsForWorkers(t *testing.T) {
	root := t.TempDir()
	c, s := hosting(t, root)
	c.post("", forWorkers)
	mine := c.post("/w/ask", `{}`)
	d, err := storage.At(filepath.Join(root, "w"))
	if err != nil {
		t.Fatal(err)
	}
	host, err := unixsock.Dial(d)
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	a, err := host.Do(steer.Add{Params: []byte(`{"x":0.5}`)})
	if err != nil || a.Trial == nil {
		t.Errorf("add: %+v, %v", a, err)
	}
	if _, err := host.Do(steer.Stop{}); err != nil {
		t.Error(err)
	}
	if g := c.report(mine, 1); g.Decision != "stop" {
		t.Errorf("the report of the stopped trial: %+v", g)
	}
	s.Close()
	if _, err := os.Lstat(d.Control()); !os.IsNotExist(err) {
		t.Errorf("after the end of the server: %v", err)
	}
}
