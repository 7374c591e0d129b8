package link

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
)

// A wrong token, lease, bundle or epoch is refused with the reason, and the agent ends.
func TestRefusals(t *testing.T) {
	w := openHub(t, t.TempDir())
	ticket, other := w.expect("th-1", 2), w.expect("th-2", 1)
	run(t, ticket, 0)
	w.next(Connected)
	w.expect("th-3", 1)
	w.Forget("th-3")
	for name, c := range map[string]struct {
		change func(*Ticket)
		bundle int
		why    string
	}{
		"wrong token":     {func(t *Ticket) { t.Token = "guess" }, 1, "the token is wrong"},
		"reused token":    {func(*Ticket) {}, 0, "has been used for bundle 0"},
		"other lease":     {func(t *Ticket) { t.Token = other.Token }, 1, "the token is wrong"},
		"no such bundle":  {func(*Ticket) {}, 2, "no bundle 2"},
		"earlier epoch":   {func(t *Ticket) { t.Epoch-- }, 1, "requested again"},
		"later epoch":     {func(t *Ticket) { t.Epoch++ }, 1, "requested again"},
		"ended lease":     {func(t *Ticket) { t.Lease = "th-3" }, 0, "th-3 has ended"},
		"unknown lease":   {func(t *Ticket) { t.Lease = "th-99" }, 0, "th-99 has ended"},
		"lease of a path": {func(t *Ticket) { t.Lease = "../../x" }, 0, "has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			mine := ticket
			c.change(&mine)
			var refused *RefusedError
			err := <-run(t, mine, c.bundle).ended
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.why) ||
				strings.Contains(err.Error(), "\n") {
				t.Error(err)
			}
		})
	}
	run(t, ticket, 1) // the token is still valid for the bundle without an agent
	w.next(Connected)
}

// A stranger does not learn from the answers which leases there are, or what has become of them.
func TestStrangersLearnNothing(t *testing.T) {
	w := openHub(t, t.TempDir())
	ticket := w.expect("th-1", 1)
	w.expect("th-2", 1)
	w.Forget("th-2")
	key, _, _ := ed25519.GenerateKey(rand.Reader)
	for name, q := range map[string]request{
		"a lease":                {Lease: "th-1", Epoch: ticket.Epoch},
		"an earlier request":     {Lease: "th-1", Epoch: ticket.Epoch - 1},
		"no such bundle":         {Lease: "th-1", Epoch: ticket.Epoch, Bundle: 7},
		"a lease that has ended": {Lease: "th-2", Epoch: ticket.Epoch + 1},
		"no lease":               {Lease: "th-9"},
	} {
		q.Token = "guess"
		_, err := w.redeem(q, key, "mine")
		want := "the lease " + q.Lease + " has ended or was requested again, or the token is wrong"
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The answer to a request for a certificate may be lost. The same agent then gets another one, but
// nobody else does.
func TestLostCertificate(t *testing.T) {
	w := openHub(t, t.TempDir())
	ticket := w.expect("th-1", 1)
	q := request{Token: ticket.Token, Lease: "th-1", Epoch: ticket.Epoch}
	key, _, _ := ed25519.GenerateKey(rand.Reader)
	for range 2 {
		if _, err := w.redeem(q, key, "mine"); err != nil {
			t.Error(err)
		}
	}
	if _, err := w.redeem(q, key, "another"); err == nil {
		t.Error("the token served twice")
	}
}
