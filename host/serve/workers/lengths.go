package workers

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage"
)

// lengthsFile has the lengths of leases, for the next server: those that are not of the usual length, or all of them
// if it says so. A trial that is not among all was with no worker: no ask was answered with it.
const (
	lengthsFile = "workers.json"
	allKnown    = "all"
)

// maxLengths is longer than the file is, in bytes.
const maxLengths = 16 << 20

// lengths are the lengths of leases by trial, in seconds.
type lengths struct {
	path  string
	known map[string]float64
}

// readLengths reads them; a file that makes no sense has none, because leases then have the usual length.
func readLengths(dir string) *lengths {
	x := &lengths{path: filepath.Join(dir, lengthsFile)}
	if text, err := storage.ReadFile(x.path, maxLengths); err == nil {
		_ = json.Unmarshal(text, &x.known)
	}
	if x.known == nil {
		x.known = map[string]float64{}
	}
	return x
}

func key(no core.TrialNo) string { return strconv.FormatUint(uint64(no), 10) }

// of returns the length of a trial's lease; 0: no worker has it.
func (x *lengths) of(no core.TrialNo) time.Duration {
	seconds, ok := x.known[key(no)]
	if length := time.Duration(seconds * float64(time.Second)); ok && length >= Shortest && length <= Longest {
		return length
	}
	if !ok && x.hasAll() {
		return 0
	}
	return Usual
}

func (x *lengths) hasAll() bool { return x.known[allKnown] != 0 }

// setAll stores the lengths of all leases, and from then on those of the usual length, too.
func (x *lengths) setAll(leases map[core.TrialNo]time.Duration) error {
	clear(x.known)
	x.known[allKnown] = 1
	for no, length := range leases {
		x.known[key(no)] = length.Seconds()
	}
	return x.store()
}

// set stores the length of a trial's lease; 0: it has none any more.
func (x *lengths) set(no core.TrialNo, length time.Duration) error {
	_, known := x.known[key(no)]
	switch {
	case length != 0 && (length != Usual || x.hasAll()):
		x.known[key(no)] = length.Seconds()
	case known:
		delete(x.known, key(no))
	default:
		return nil
	}
	return x.store()
}

func (x *lengths) store() error {
	text, err := json.Marshal(x.known)
	if err == nil {
		err = storage.WriteFile(x.path, append(text, '\n'))
	}
	if errors.Is(err, fs.ErrNotExist) { // the whole directory is gone, which the session reports
		return nil
	}
	return err
}
