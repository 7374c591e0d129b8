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
	"slices"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/machine"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

const (
	leaseFile = storage.LeaseFile
	// OwnerFile identifies the working directory, so that it recognises its own copies.
	OwnerFile = "mirror.json"
)

// Timing says how a lease is renewed.
type Timing struct {
	// Renew is the interval of renewals; a lease that is not renewed for Expire has ended.
	Renew, Expire time.Duration
}

// DefaultTiming is the timing that hosts use.
var DefaultTiming = Timing{Renew: 5 * time.Second, Expire: 30 * time.Second}

// claim is lease.json.
type claim struct {
	// Owner is the working directory that was copied from last.
	Owner string `json:"owner"`
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Where string `json:"where,omitempty"`
	// Holder is a random name of the host; Serial changes with each renewal.
	Holder   string `json:"holder"`
	Serial   string `json:"serial"`
	Released bool   `json:"released,omitempty"`
	// Beginning is the host whose first round of copying has not ended, so that there is no experiment here yet.
	Beginning string `json:"beginning,omitempty"`
}

// Lease says that only this host runs the experiment.
type Lease struct {
	store  *Store
	timing Timing
	mine   claim
	// SameDir says that the last host used the same working directory.
	SameDir bool
	// New says that there was no lease: no host has run it, or the lease was lost.
	New bool
	// was is the lease that this host found. It is put back where this host changes nothing else.
	was    claim
	owning bool

	renewing sync.Mutex // guards mine and written once the lease is owned
	// written are the serials that the store may have: the last one, and those after it whose writing has failed.
	written []string

	mu       sync.Mutex
	lost     error
	renewed  time.Time
	trouble  error // of the last renewal
	replaced bool  // see Replaced
}

// HeldError says which host runs an experiment.
type HeldError struct {
	URL, Host string
	PID       int
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is run by another host, process %d on %s; wait until that has ended, or end it", e.URL,
		e.PID, e.Host)
}

// own is [OwnerFile].
type own struct {
	Owner string `json:"owner"`
	// URL is the store that was copied to last.
	URL string `json:"url,omitempty"`
}

func ownOf(dir string) (x own) {
	text, err := nolink.ReadFile(filepath.Join(dir, OwnerFile), 1<<16)
	if err != nil || json.Unmarshal(text, &x) != nil {
		return own{}
	}
	return x
}

func (x own) write(dir string) error {
	text, err := json.Marshal(x)
	if err != nil {
		return err
	}
	return nolink.WriteFile(filepath.Join(dir, OwnerFile), append(text, '\n'), 0o600)
}

// Owner returns the random name of a working directory; the first call draws it.
func Owner(dir string) (string, error) {
	x := ownOf(dir)
	if x.Owner != "" {
		return x.Owner, nil
	}
	x.Owner = rand.Text()
	return x.Owner, x.write(dir)
}

// Remember writes down in a working directory where its store is, for [BringHere].
func Remember(dir, url string) error {
	x := ownOf(dir)
	if x.URL == url {
		return nil
	}
	x.URL = url
	return x.write(dir)
}

// StoreOf returns the URL of the store to which a working directory was copied last; "" if it is not known.
func StoreOf(dir string) string { return ownOf(dir).URL }

// BringHere fetches the files of a checkpoint in a working directory that are in its store alone. It does nothing if
// they are there.
func BringHere(ctx context.Context, dir, checkpoint string) error {
	m, err := storage.ReadManifest(checkpoint)
	if err != nil || !m.Away(checkpoint) {
		return nil // there is none, or it is whole
	}
	url := StoreOf(dir)
	if url == "" {
		return fmt.Errorf("%s: it is not known where its storage is", checkpoint)
	}
	s, err := OpenToRead(ctx, url)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Bring(ctx, checkpoint)
}

// Take takes the lease for a working directory. If another host holds it, Take calls say and then
// watches for [Timing.Expire] whether that host is alive.
func Take(ctx context.Context, s *Store, t Timing, owner string, say func(string)) (*Lease, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown machine"
	}
	l := &Lease{store: s, timing: t, mine: claim{Owner: owner, Host: host, PID: os.Getpid(), Where: machine.Here(),
		Holder: rand.Text(), Serial: rand.Text()}}
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
	l.was, l.SameDir, l.mine.Owner, l.mine.Beginning = was, was.Owner == owner, was.Owner, was.Beginning
	if !l.SameDir && !was.Released && !was.dead() {
		say(fmt.Sprintf("%s was run by process %d on %s; waiting %v to see that it has ended", s.url, was.PID, was.Host,
			t.Expire))
		if err := l.waitUntilExpired(ctx, was); err != nil {
			return nil, err
		}
	}
	return l, l.write(ctx)
}

// begin takes a lease that no host has had yet.
func (l *Lease) begin(ctx context.Context) (bool, error) {
	ok, err := l.store.putNew(ctx, leaseFile, l.text())
	l.New, l.SameDir, l.written = ok, ok, []string{l.mine.Serial}
	return ok, err
}

// waitUntilExpired waits until a lease has not been renewed for long enough. It looks once more at the end, in
// case this host itself was stopped while it waited.
func (l *Lease) waitUntilExpired(ctx context.Context, was claim) error {
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

// While renews the lease while do runs, which may take long. If another host takes the lease, While
// stops do and fails.
func (l *Lease) While(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		defer cancel()
		for l.Lost() == nil && wait(ctx, l.timing.Renew) {
			_ = l.renew(ctx) // only a lost lease matters
		}
	})
	err := do(ctx)
	cancel()
	renewing.Wait()
	return cmp.Or(l.Lost(), err)
}

// Own says that the working directory has all that the store has, so that it is the source from now
// on. In an empty store an experiment begins. It fails if another host has the lease.
func (l *Lease) Own(ctx context.Context, owner string, empty bool) error {
	l.mine.Owner, l.owning = owner, true
	if empty {
		l.mine.Beginning = fmt.Sprintf("process %d on %s", l.mine.PID, l.mine.Host)
	}
	return l.renew(ctx)
}

// begun says that all of a first round is in the store but the experiment file, which may then be written. A host that
// dies in between leaves a store that seems to have lost this file: that is refused, and nothing there is replaced.
func (l *Lease) begun(ctx context.Context) error {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	first := l.mine.Beginning
	if first == "" {
		return nil
	}
	l.mine.Beginning = ""
	err := l.renewNow(ctx)
	if err != nil {
		l.mine.Beginning = first
	}
	return err
}

// beginning reports whether the first round of an experiment is not over.
func (l *Lease) beginning() bool {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	return l.mine.Beginning != ""
}

// LastFrom reports whether the store was last copied from a working directory, and has its experiment still.
func (s *Store) LastFrom(ctx context.Context, dir string) (bool, error) {
	if _, err := nolink.Lstat(filepath.Join(dir, OwnerFile)); err != nil {
		return false, nil
	}
	owner, err := Owner(dir)
	if err != nil {
		return false, err
	}
	was, err := s.claim(ctx)
	if err != nil || was.Owner != owner {
		return false, err
	}
	return s.Same(ctx, dir)
}

func (s *Store) claim(ctx context.Context) (c claim, err error) {
	text, err := s.get(ctx, leaseFile)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("%s is damaged (%w): it says which host runs the experiment; if none does, remove it, "+
			"and continue with `tunehost run FILE --resume remote`", Join(s.url, leaseFile), err)
	}
	return c, nil
}

// HeldBy returns the machine whose host renewed its lease so recently that it must be alive, or "". It
// is for readers who do not wait. It compares the store's clock with the reader's: if they differ by
// more than [Timing.Expire], a living host is not seen.
func (s *Store) HeldBy(ctx context.Context, t Timing, now time.Time) (machine string, err error) {
	was, err := s.claim(ctx)
	if errors.Is(err, ErrNone) || err == nil && (was.Released || was.dead()) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	renewed, err := s.bucket.changed(ctx, leaseFile)
	if err != nil {
		return "", s.explain(err)
	}
	if now.Sub(renewed).Abs() > t.Expire {
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
	l.written = append(l.written, l.mine.Serial)
	if err := l.store.put(ctx, leaseFile, l.text()); err != nil {
		return err
	}
	l.written = l.written[len(l.written)-1:]
	l.mu.Lock()
	l.renewed = time.Now()
	l.mu.Unlock()
	return nil
}

// renew writes the lease again if this host still holds it. A failure to reach the store does not lose
// it: other hosts may not reach it either, and [Lease.Held] knows how old the last renewal is.
func (l *Lease) renew(ctx context.Context) error {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, l.timing.Expire/3)
	defer cancel()
	err := l.renewNow(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = err
	return err
}

func (l *Lease) renewNow(ctx context.Context) error {
	if err := l.find(ctx); err != nil {
		return err
	}
	l.mine.Serial = rand.Text()
	return l.write(ctx)
}

// look is find, beside renewals.
func (l *Lease) look(ctx context.Context) error {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	return l.find(ctx)
}

// find looks for the lease in the store. If it is gone, or as it once was, so may be anything else: the error is
// [*vanishedError], and only [Lease.retake] writes the lease. If another host has it, it is lost.
func (l *Lease) find(ctx context.Context) error {
	now, err := l.store.claim(ctx)
	none := errors.Is(err, ErrNone)
	switch {
	case err != nil && !none:
		return err
	case !none && now.Holder == l.mine.Holder && slices.Contains(l.written, now.Serial):
		return nil
	case none || now.Holder == l.mine.Holder || now.Serial != "" && now.Serial == l.was.Serial:
		l.setReplaced(true)
		return l.store.vanished(none)
	}
	l.lose(&HeldError{l.store.url, now.Host, now.PID})
	return l.Lost()
}

// retake takes the lease again where it was gone, or as it once was. A host that has begun there meanwhile keeps it.
func (l *Lease) retake(ctx context.Context) error {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	err := l.find(ctx)
	gone, vanished := errors.AsType[*vanishedError](err)
	if err != nil && !vanished || vanished && gone.where != nil {
		return err
	}
	l.mine.Serial = rand.Text()
	if !vanished || !gone.none {
		return l.write(ctx)
	}
	l.written = append(l.written, l.mine.Serial)
	if err := l.store.remake(); err != nil {
		return err
	}
	if ok, err := l.store.putNew(ctx, leaseFile, l.text()); !ok || err != nil {
		return cmp.Or(err, l.find(ctx))
	}
	return l.write(ctx)
}

func (l *Lease) lose(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = err
}

// Lost returns the reason why another host has the lease; nil while this host holds it.
func (l *Lease) Lost() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// Replaced reports whether the store has lost the lease, or has an older one again: what this host had copied was
// removed, or is not all that it was.
func (l *Lease) Replaced() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.replaced
}

func (l *Lease) setReplaced(is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replaced = is
}

// errStale says that another host may have the lease.
var errStale = errors.New("the lease could not be renewed in time")

// Held checks that this host certainly holds the lease, so that it may write.
func (l *Lease) Held() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost == nil && time.Since(l.renewed) > l.timing.Expire-2*l.timing.Renew {
		return l.stale()
	}
	return l.lost
}

func (l *Lease) stale() error {
	if l.trouble == nil {
		return errStale
	}
	return fmt.Errorf("%w: %w", errStale, l.trouble)
}

// age is how long ago the lease was renewed.
func (l *Lease) age() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.renewed)
}

// Release lets the next host take the lease at once. Where this host never was the owner, nothing is left of it.
func (l *Lease) Release(ctx context.Context) error {
	if err := l.Lost(); err != nil {
		return err
	}
	switch {
	case !l.owning && l.New:
		return l.store.delete(ctx, leaseFile)
	case !l.owning && l.was.Released:
		l.mine = l.was
	}
	l.mine.Released = true
	return l.write(ctx)
}
