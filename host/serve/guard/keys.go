package guard

import (
	"crypto/rand"
	"fmt"
	"sync"
	"time"
)

// A page does not keep the user's token, which other servers of the user take, too. It gets a key that is valid for
// this server until it ends, and keeps it in the storage of its origin, of which the port is a part. A cookie would
// reach each server on this machine, those of other users too, because browsers send cookies to all ports of a host.
// A page that outlives its server sends the key to the next program that has the port, which can do nothing with it.

// A ticket is good once, and for so long: a page shows it as soon as it opens.
const ticketTime = time.Minute

// mostTickets is how many are remembered.
const mostTickets = 256

type keys struct {
	Tokens
	mu      sync.Mutex
	tickets map[string]ticket
}

type ticket struct {
	rights rights
	until  time.Time
}

func newKeys() *keys {
	return &keys{Tokens: NewTokens(), tickets: map[string]ticket{}}
}

// secret returns a text of 260 random bits.
func secret() string { return rand.Text() + rand.Text() }

// ticket makes one for a key with these rights.
func (k *keys) ticket(r rights) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.tickets) >= mostTickets {
		k.dropOldest()
	}
	name := secret()
	k.tickets[name] = ticket{r, time.Now().Add(ticketTime)}
	return name
}

// dropOldest forgets one ticket. The caller has the lock.
func (k *keys) dropOldest() {
	oldest := ""
	for name, t := range k.tickets {
		if oldest == "" || t.until.Before(k.tickets[oldest].until) {
			oldest = name
		}
	}
	delete(k.tickets, oldest)
}

// enter takes a ticket, and returns the key; "": the ticket is not valid, or not any more.
func (k *keys) enter(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, known := k.tickets[name]
	delete(k.tickets, name)
	switch {
	case !known || time.Now().After(t.until):
		return ""
	case t.rights == reading:
		return k.Read
	}
	return k.Full
}

// access has what gives access: the tokens, those of the printed URLs, and the keys of the pages that have shown one.
type access struct {
	Tokens
	printed Tokens
	keys    *keys
}

// shown are the rights of a token of either kind.
func (a *access) shown(token string) rights { return max(a.of(token), a.printed.of(token)) }

// renewEvery is how often the folder of the tokens is looked at, if there are requests.
const renewEvery = time.Second

// renew takes the tokens that another server has put in their folder in place of these. The keys of pages and
// the printed URLs end with the tokens. If the new ones cannot be read, the old ones stay.
func (g *Guard) renew() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.Folder == "" || time.Since(g.looked) < renewEvery {
		return
	}
	g.looked = time.Now()
	t, err := read(g.Folder)
	if err == nil && t != g.access.Load().Tokens {
		g.access.Store(&access{t, Tokens{}, newKeys()})
	}
	g.warn(err)
}

// warn says why the tokens in the folder are not taken, unless it has just said so. The caller has the lock.
func (g *Guard) warn(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != g.warned && g.Warn != nil {
		g.Warn(fmt.Errorf("the tokens of the server are not renewed, and the earlier ones stay valid: %w", err))
	}
	g.warned = text
}
