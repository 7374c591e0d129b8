package link

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// What a host leaves for the next one, in a folder of the experiment's directory that only its owner
// can read:
//
//	authority.pem   the experiment's authority
//	host.json       the host's port and addresses; agents on the same file system read it
//	leases/NAME     a lease whose agents are expected
const (
	hostFile  = "host.json"
	leasesDir = "leases"
	maxFile   = 1 << 20
)

// place is the file with the host's addresses.
type place struct {
	Port int `json:"port"`
	// Hosts counts the hosts of the experiment. Epochs of later hosts are greater.
	Hosts uint32   `json:"hosts"`
	Dial  []string `json:"dial"`
}

// expected is the file of a lease.
type expected struct {
	Epoch   uint64 `json:"epoch"`
	Bundles int    `json:"bundles"`
	// Token is the SHA-256 of its token, in hex.
	Token string `json:"token"`
	// Joined are the bundles whose agents have connected with their certificates: their token is of no
	// use any longer.
	Joined map[int]bool `json:"joined,omitempty"`
}

func (e *expected) valid() bool { return e.Bundles > 0 && e.Token != "" }

// state is the folder.
type state struct{ dir string }

func openState(dir string) (state, error) {
	return state{dir}, nolink.MkdirAll(filepath.Join(dir, leasesDir), 0o700)
}

// place reads the host's file; a new one, if there is none or it is damaged: agents find the new
// addresses in it.
func (s state) place() (p place, err error) {
	text, err := storage.ReadFile(filepath.Join(s.dir, hostFile), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		p, err = parsePlace(text)
	}
	return p, err
}

func parsePlace(text []byte) (p place, err error) {
	if err := json.Unmarshal(text, &p); err != nil || p.Port < 0 || p.Port > 65535 || !addresses(p.Dial) {
		return place{}, fmt.Errorf("%s is damaged", hostFile)
	}
	return p, nil
}

func (s state) setPlace(p place) error { return s.write(hostFile, p) }

// write replaces a file. It does not wait for the disk: what a loss of power takes away costs no more than
// the leases of that time.
func (s state) write(name string, what any) error {
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, name)
	if named, err := nolink.Lstat(path); err == nil && named.IsDir() {
		return &nolink.Error{Path: path, Is: nolink.KindOf(named.Mode()), Do: "move it away"}
	}
	f, err := nolink.Temporary(path, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = nolink.Rename(f.Name(), path)
	}
	if err != nil {
		_ = nolink.Remove(f.Name())
	}
	return err
}

// leases reads all leases. Damaged files are leases that are not expected any longer. What else lies in
// the folder is somebody else's, and stays.
func (s state) leases() (map[string]*expected, error) {
	entries, err := nolink.ReadDir(filepath.Join(s.dir, leasesDir))
	all := map[string]*expected{}
	for _, e := range entries {
		name, ours := strings.CutSuffix(e.Name(), ".json")
		if !ours || !validLease(name) || !e.Type().IsRegular() {
			continue
		}
		text, err := storage.ReadFile(filepath.Join(s.dir, leasesDir, e.Name()), maxFile)
		if l, ok := parseExpected(text); err == nil && ok {
			all[name] = l
		} else {
			_ = s.removeLease(name)
		}
	}
	return all, err
}

func parseExpected(text []byte) (*expected, bool) {
	l := &expected{}
	err := json.Unmarshal(text, l)
	return l, err == nil && l.valid()
}

func (s state) setLease(name string, l *expected) error {
	return s.write(filepath.Join(leasesDir, name+".json"), l)
}

func (s state) removeLease(name string) error {
	return nolink.Remove(filepath.Join(s.dir, leasesDir, name+".json"))
}
