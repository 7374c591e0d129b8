// Package claims tells the hosts of one user on one machine which GPUs each of them holds, and how
// many CPUs each may use (B-138).
//
// A claim is a file in its host's folder of the runtime directory (host/storage/runtimedir). It is
// valid as long as the host lives: the kernel releases the folder's lock with the process. Hosts with
// different runtime directories (another user's, another container's) do not see each other.
package claims

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/storage/runtimedir"
)

// Claim is what one host uses of the machine.
type Claim struct {
	Experiment string `json:"experiment"`
	Dir        string `json:"dir"`
	PID        int    `json:"pid"`
	// CPUs is how many its trials may use at a time.
	CPUs float64 `json:"cpus"`
	GPUs []GPU   `json:"gpus,omitempty"`
}

// GPU is one device, identified by its UUID, or by its index if the UUID is unknown.
type GPU struct {
	Index string `json:"index,omitempty"`
	UUID  string `json:"uuid,omitempty"`
}

// Same reports whether two names mean one device.
func (g GPU) Same(h GPU) bool {
	if g.UUID != "" && h.UUID != "" {
		return g.UUID == h.UUID
	}
	return g.Index != "" && g.Index == h.Index
}

// Holder returns the claim that has a device, or nil.
func Holder(claims []Claim, g GPU) *Claim {
	for i := range claims {
		if slices.ContainsFunc(claims[i].GPUs, g.Same) {
			return &claims[i]
		}
	}
	return nil
}

const (
	claimFile = "claim.json"
	lockFile  = ".claims"
	// maxClaimBytes is larger than any claim.
	maxClaimBytes = 1 << 20
	// lockTries with lockPause between them are how long another host may take to decide.
	lockTries = 1000
	lockPause = 10 * time.Millisecond
)

// Entry is a claim in force.
type Entry struct{ folder *runtimedir.Folder }

// Others are the claims of the other living hosts.
type Others struct {
	Claims []Claim
	// Unread is the error of claims that cannot be read, which may claim anything; nil: there are
	// none.
	Unread error
}

// Enter calls decide with the claims of the other hosts and enters the claim that it returns. Other
// hosts wait meanwhile. If decide fails, nothing is entered.
func Enter(decide func(Others) (Claim, error)) (*Entry, error) {
	folder, err := runtimedir.Make()
	if err != nil {
		return nil, err
	}
	e := &Entry{folder}
	if err := e.enter(decide); err != nil {
		return nil, errors.Join(err, folder.Remove())
	}
	return e, nil
}

// Leave ends the claim.
func (e *Entry) Leave() {
	if e == nil {
		return
	}
	if e.Alone() != nil { // no other host decides there
		_ = os.Remove(filepath.Join(e.folder.Root(), lockFile))
	}
	_ = e.folder.Remove()
}

// Alone returns why this host and others do not see each other's claims; nil if they do.
func (e *Entry) Alone() error { return e.folder.Alone() }

func (e *Entry) enter(decide func(Others) (Claim, error)) error {
	lock, err := lock(filepath.Join(e.folder.Root(), lockFile))
	if err != nil {
		return err
	}
	defer lock.Close()
	claim, err := decide(e.others())
	if err != nil {
		return err
	}
	text, err := json.Marshal(claim)
	if err != nil {
		return err
	}
	tmp := filepath.Join(e.folder.Path(), claimFile+".new")
	return errors.Join(os.WriteFile(tmp, text, 0o600), os.Rename(tmp, filepath.Join(e.folder.Path(), claimFile)))
}

// others returns the claims of living hosts. A folder without a claim has another purpose.
func (e *Entry) others() (all Others) {
	dirs, err := e.folder.Others()
	all.Unread = err
	for _, dir := range dirs {
		c, err := read(filepath.Join(dir, claimFile))
		switch {
		case err == nil:
			all.Claims = append(all.Claims, c)
		case !errors.Is(err, fs.ErrNotExist):
			all.Unread = errors.Join(all.Unread, err)
		}
	}
	return all
}

func read(file string) (c Claim, err error) {
	info, err := os.Lstat(file)
	if err != nil {
		return c, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxClaimBytes {
		return c, fmt.Errorf("%s is not a claim that a host has written", file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// lock waits for the decisions of other hosts, which are quick.
func lock(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	for range lockTries {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return f, nil
		}
		time.Sleep(lockPause)
	}
	return nil, errors.Join(fmt.Errorf("%s stays locked: %w", file, err), f.Close())
}
