package link

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAgentsConnect(t *testing.T) {
	w := openHub(t, t.TempDir())
	ticket := w.expect("th-1", 2)
	if again := w.expect("th-1", 2); again.Token != ticket.Token || again.Epoch != ticket.Epoch {
		t.Error("the same lease has two tickets")
	}
	for bundle := range 2 {
		run(t, ticket, bundle)
		if e := w.next(Connected); e.Lease != "th-1" || e.Bundle != bundle {
			t.Error(e)
		}
		s, err := w.Wait(t.Context(), "th-1", bundle)
		if err != nil {
			t.Fatal(err)
		}
		says(t, s, "hello")
	}
	if n, of := w.Bundles("th-1"); n != 2 || of != 2 {
		t.Error(n, of)
	}
	checkModes(t, w.Dir)
}

// checkModes checks that other users cannot read the hub's files.
func checkModes(t *testing.T, dir string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if info, err := d.Info(); err != nil || path != dir && info.Mode().Perm()&0o077 != 0 {
			t.Error(path, info.Mode(), err)
		}
		return nil
	})
	text, err := os.ReadFile(filepath.Join(dir, "authority.pem"))
	if err != nil || !strings.Contains(string(text), "PRIVATE KEY") {
		t.Error(err)
	}
}

// The end of a lease dismisses its connected agent.
func TestForget(t *testing.T) {
	w := openHub(t, t.TempDir())
	r := run(t, w.expect("th-1", 1), 0)
	w.next(Connected)
	w.Forget("th-1")
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
	if _, err := w.Wait(t.Context(), "th-1", 0); !errors.Is(err, ErrForgotten) {
		t.Error(err)
	}
}

// A thousand agents connect at once and answer.
func TestThousand(t *testing.T) {
	n := 1000
	if testing.Short() || raced {
		n = 50
	}
	w := openHub(t, t.TempDir()) // whose time stands still: all ends are in one process, which may be slow
	for i := range n {
		ticket := w.expect(fmt.Sprint("th-", i), 1)
		ticket.Dial, ticket.File = ticket.Dial[:1], ""
		run(t, ticket, 0, func(a *Agent) { a.Clock = w.clock })
	}
	for i := range n {
		s, err := w.Wait(t.Context(), fmt.Sprint("th-", i), 0)
		if err != nil {
			t.Fatal(err, w.complaints())
		}
		_ = says(t, s, "hello").Close()
	}
}

// complaints are the events so far that are not about a first connection.
func (w *world) complaints() (list []Event) {
	for {
		select {
		case e := <-w.events:
			if e.Kind != Connected {
				list = append(list, e)
			}
		default:
			return list
		}
	}
}

// A host that starts again listens on the same port. Its agents come back, unless the lease is not
// expected any longer or was requested again; their tokens stay used.
func TestHostRestarts(t *testing.T) {
	dir := t.TempDir()
	w := openHub(t, dir)
	kept, dropped, again := w.expect("th-1", 1), w.expect("th-2", 1), w.expect("th-3", 1)
	late := w.expect("th-4", 1)
	stays, goes, old := run(t, kept, 0), run(t, dropped, 0), run(t, again, 0)
	for range 3 {
		w.next(Connected)
	}
	port := w.place.Port
	_ = w.Close()
	w = openHub(t, dir)
	if w.place.Port != port {
		t.Errorf("port %d, not %d", w.place.Port, port)
	}
	w.Retain([]string{"th-1", "th-3", "th-4"})
	if renewed := w.expect("th-3", 1); renewed.Epoch <= again.Epoch || renewed.Token == again.Token {
		t.Error(renewed.Epoch, again.Epoch)
	}
	for _, r := range []*running{goes, old} { // they are refused, or dismissed if they have connected before
		var refused *RefusedError
		if err := <-r.ended; err != nil && !errors.As(err, &refused) {
			t.Error(err)
		}
	}
	s, err := w.Wait(t.Context(), "th-1", 0)
	if err != nil {
		t.Fatal(err)
	}
	says(t, s, "hello again")
	if err := <-run(t, kept, 0).ended; !strings.Contains(err.Error(), "has been used") {
		t.Error(err)
	}
	run(t, late, 0) // its ticket comes from the earlier host
	if _, err := w.Wait(t.Context(), "th-4", 0); err != nil {
		t.Error(err)
	}
	select {
	case err := <-stays.ended:
		t.Error(err)
	default:
	}
}

// B-132: the host hears that an agent's node is taken away soon; the agent ends with its connection then.
func TestAgentIsLeaving(t *testing.T) {
	w := openHub(t, t.TempDir())
	leaving := make(chan struct{})
	leaves := func(a *Agent) { a.Leaving = leaving }
	a := run(t, w.expect("th-1", 1), 0, leaves)
	w.next(Connected)
	s, err := w.Wait(t.Context(), "th-1", 0)
	if err != nil {
		t.Fatal(err)
	}
	says(t, s, "hello") // the agent has seen the connection, too
	close(leaving)
	if e := w.nextByBeats(Leaving); e.Lease != "th-1" {
		t.Error(e)
	}
	w.Forget("th-1")
	if err := <-a.ended; err != nil {
		t.Error(err)
	}
	b := run(t, w.expect("th-2", 1), 0, leaves) // it ends at once, or tells the host once it is connected
	_ = w.Close()
	if err := <-b.ended; err != nil {
		t.Error(err)
	}
}

// The next host knows the leases whose agents were all connected.
func TestRejoins(t *testing.T) {
	dir := t.TempDir()
	w := openHub(t, dir)
	both := w.expect("th-1", 2)
	run(t, both, 0)
	w.next(Connected)
	run(t, both, 1)
	w.next(Connected)
	run(t, w.expect("th-2", 2), 0)
	w.next(Connected)
	if w.Rejoins("th-1") {
		t.Error("the lease is of this host")
	}
	_ = w.Close()
	next := openHub(t, dir)
	for lease, want := range map[string]bool{"th-1": true, "th-2": false, "th-3": false} {
		if got := next.Rejoins(lease); got != want {
			t.Errorf("%s: %v", lease, got)
		}
	}
}

// An agent on whose node nothing can run says why, and ends. The lease is forgotten.
func TestFailure(t *testing.T) {
	w := openHub(t, t.TempDir())
	r := run(t, w.expect("th-1", 2), 1, func(a *Agent) { a.Failure = "the setup failed at: false" })
	if e := w.next(Failed); e.Why != "the setup failed at: false" || e.Lease != "th-1" || e.Bundle != 1 {
		t.Errorf("%+v", e)
	}
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
	if _, err := w.Wait(t.Context(), "th-1", 0); !errors.Is(err, ErrForgotten) {
		t.Error(err)
	}
}
