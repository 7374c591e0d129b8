package mirror

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

const (
	leaseFile = "lease.json"
	// OwnerFile is in the working directory, which knows its own copies by it.
	OwnerFile = "mirror.json"
)

// Timing is how a lease is kept.
type Timing struct {
	// Renew is how often it is renewed; one that was not for Expire is nobody's.
	Renew, Expire time.Duration
}

// DefaultTiming is that of hosts.
var DefaultTiming = Timing{Renew: 5 * time.Second, Expire: 30 * time.Second}

// claim is lease.json.
type claim struct {
	// Owner is the working directory that was copied from last.
	Owner string `json:"owner"`
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Where string `json:"where,omitempty"`
	// Holder is the host, drawn for it; Serial changes with each renewal.
	Holder   string `json:"holder"`
	Serial   string `json:"serial"`
	Released bool   `json:"released,omitempty"`
}

// Lease says that this host alone runs the experiment.
type Lease struct {
	store  *Store
	timing Timing
	mine   claim
	// Ours: the last host copied from the same working directory.
	Ours bool

	mu      sync.Mutex
	lost    error
	renewed time.Time
}

// HeldError says who runs an experiment.
type HeldError struct {
	URL, Host string
	PID       int
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is run by another host, process %d on %s; wait until that has ended, or end it", e.URL, e.PID, e.Host)
}

// Owner is the name of a working directory, which is drawn when it is first asked
// for.
func Owner(dir string) (string, error) {
	path := filepath.Join(dir, OwnerFile)
	var x struct {
		Owner string `json:"owner"`
	}
	if text, err := nolink.ReadFile(path, 1<<16); err == nil && json.Unmarshal(text, &x) == nil && x.Owner != "" {
		return x.Owner, nil
	}
	x.Owner = rand.Text()
	text, err := json.Marshal(x)
	if err != nil {
		return "", err
	}
	return x.Owner, nolink.WriteFile(path, append(text, '\n'), 0o600)
}

// Take takes the lease for a working directory. Where another host holds it, Take
// watches for [Timing.Expire] whether that lives: say is told before.
func Take(ctx context.Context, s *Store, t Timing, owner string, say func(string)) (*Lease, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown machine"
	}
	l := &Lease{store: s, timing: t, mine: claim{Owner: owner, Host: host, PID: os.Getpid(), Where: here(), Holder: rand.Text(), Serial: rand.Text()}}
	was, err := s.claim(ctx)
	switch {
	case errors.Is(err, ErrNone):
		if ok, err := l.begin(ctx); ok || err != nil {
			return l, err
		}
		if was, err = s.claim(ctx); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	l.Ours, l.mine.Owner = was.Owner == owner, was.Owner
	if !l.Ours && !was.Released && !was.dead() {
		say(fmt.Sprintf("%s was run by process %d on %s; waiting %v to see that it has ended", s.url, was.PID, was.Host, t.Expire))
		if err := l.outlive(ctx, was); err != nil {
			return nil, err
		}
	}
	return l, l.write(ctx)
}

// begin takes a lease that nobody has ever had.
func (l *Lease) begin(ctx context.Context) (bool, error) {
	l.Ours = true // there is nothing in the store that is not
	return l.store.putNew(ctx, leaseFile, l.text())
}

// outlive waits until a lease has not been renewed for long enough. The last look is
// after that, also where this host itself was kept from looking meanwhile.
func (l *Lease) outlive(ctx context.Context, was claim) error {
	end := time.Now().Add(l.timing.Expire)
	for over := false; !over; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(l.timing.Renew, time.Until(end))):
		}
		over = !time.Now().Before(end)
		now, err := l.store.claim(ctx)
		if err != nil {
			return err
		}
		if now.Released {
			return nil
		}
		if now.Serial != was.Serial {
			return &HeldError{l.store.url, now.Host, now.PID}
		}
	}
	return nil
}

// While renews the lease while do runs, which may take long. It ends do, and fails,
// when the lease is another host's.
func (l *Lease) While(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		defer cancel()
		for l.Lost() == nil && wait(ctx, l.timing.Renew) {
			_ = l.renew(ctx) // what counts is whether it is lost
		}
	})
	err := do(ctx)
	cancel()
	renewing.Wait()
	return cmp.Or(l.Lost(), err)
}

// Own says that the working directory has what the store has: from here on the
// store is copied from it. It fails where another host has the lease by now.
func (l *Lease) Own(ctx context.Context, owner string) error {
	l.mine.Owner = owner
	return l.renew(ctx)
}

// LastFrom says whether a working directory is what the store was last copied from.
func (s *Store) LastFrom(ctx context.Context, dir string) (bool, error) {
	if _, err := nolink.Lstat(filepath.Join(dir, OwnerFile)); err != nil {
		return false, nil
	}
	owner, err := Owner(dir)
	if err != nil {
		return false, err
	}
	was, err := s.claim(ctx)
	return was.Owner == owner, err
}

func (s *Store) claim(ctx context.Context) (c claim, err error) {
	text, err := s.get(ctx, leaseFile)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("%s: %s is damaged: %w", s.url, leaseFile, err)
	}
	return c, nil
}

// HeldBy is the machine whose host has renewed its lease so lately that it surely
// lives, for readers who do not wait; "" where none has. The time of the last renewal
// is the store's, and now the reader's: where their clocks are further apart than
// [Timing.Expire], a host that lives is not seen.
func (s *Store) HeldBy(ctx context.Context, t Timing, now time.Time) (machine string, err error) {
	was, err := s.claim(ctx)
	if errors.Is(err, ErrNone) || err == nil && (was.Released || was.dead()) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	a, err := s.bucket.Attributes(ctx, leaseFile)
	if err != nil {
		return "", s.explain(err)
	}
	if now.Sub(a.ModTime).Abs() > t.Expire {
		return "", nil
	}
	return was.Host, nil
}

func (l *Lease) text() []byte {
	text, err := json.Marshal(l.mine)
	if err != nil {
		panic(err) // texts and numbers
	}
	return append(text, '\n')
}

func (l *Lease) write(ctx context.Context) error {
	if err := l.store.put(ctx, leaseFile, l.text()); err != nil {
		return err
	}
	l.mu.Lock()
	l.renewed = time.Now()
	l.mu.Unlock()
	return nil
}

// renew writes the lease anew if it is still this host's. Not to reach the store is
// no reason to lose it: nobody else may reach it either, and [Lease.Held] knows
// how long ago that was.
func (l *Lease) renew(ctx context.Context) error {
	now, err := l.store.claim(ctx)
	if err != nil && !errors.Is(err, ErrNone) {
		return err
	}
	if err == nil && now.Holder != l.mine.Holder {
		l.lose(&HeldError{l.store.url, now.Host, now.PID})
		return l.Lost()
	}
	l.mine.Serial = rand.Text()
	return l.write(ctx)
}

func (l *Lease) lose(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = err
}

// Lost is why the lease is another host's; nil while it is not.
func (l *Lease) Lost() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// errStale: the lease may be another host's by now.
var errStale = errors.New("the lease could not be renewed in time")

// Held says whether the lease is certainly this host's, so that it may write.
func (l *Lease) Held() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost == nil && time.Since(l.renewed) > l.timing.Expire-2*l.timing.Renew {
		return errStale
	}
	return l.lost
}

// Release lets the next host take it at once.
func (l *Lease) Release(ctx context.Context) error {
	if err := l.Lost(); err != nil {
		return err
	}
	l.mine.Released = true
	return l.write(ctx)
}
