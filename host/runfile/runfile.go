// Package runfile is run.json: what an experiment is beside its file. The host
// writes it once, when an experiment begins; whoever looks at the experiment
// reads it to know the seed, the overrides and the run.
package runfile

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
)

// version is the newest that this program knows.
const version = 1

// maxBytes is larger than run.json and the experiment file ever are.
const maxBytes = 64 << 20

// File is run.json.
type File struct {
	Version int    `json:"version"`
	RunID   string `json:"run_id"`
	Seed    uint64 `json:"seed"`
	// Reading is how the experiment file was read when it began ([config.Reading]).
	Reading int    `json:"reading,omitempty"`
	Name    string `json:"name"`
	// Overrides are settings beside the file, as KEY=VALUE, in order.
	Overrides []string `json:"overrides"`
	// File is where the experiment file was; programs in it are relative to
	// its directory.
	File    string    `json:"file"`
	Created time.Time `json:"created"`
	// Extensions are the times when the experiment went on with another searcher,
	// scheduler or space, in order.
	Extensions []Extension `json:"extensions,omitempty"`
	// Capacity is what the machine offered when it began; plugins are told of that,
	// whatever machine it goes on with.
	Capacity map[string]string `json:"capacity,omitempty"`
	// Learned is what the searcher knows of other experiments; nil: nothing.
	Learned *Learned `json:"learned,omitempty"`
}

// Extension is one of them: Overrides is how many of File.Overrides held before it.
type Extension struct {
	Overrides int       `json:"overrides"`
	Time      time.Time `json:"time"`
}

// Learned says which file learned.jsonl is, of so many trials.
type Learned struct {
	Trials int    `json:"trials"`
	SHA256 string `json:"sha256"`
}

// New describes an experiment that begins now.
func New(e *config.Experiment, now time.Time) (*File, error) {
	var id journal.RunID
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	file, err := filepath.Abs(e.File)
	r := &File{Version: version, RunID: hex.EncodeToString(id[:]), Name: e.Name, Reading: config.Reading, Overrides: e.Overrides, File: file, Created: now.UTC()}
	if e.Seed != nil {
		r.Seed = *e.Seed
	} else {
		r.Seed = drawSeed()
	}
	return r, err
}

// drawSeed draws a seed that people can type: 32 bits of randomness.
func drawSeed() uint64 {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // crypto/rand does not fail
	}
	return uint64(binary.LittleEndian.Uint32(b[:]))
}

// ID is the run that the journal is of.
func (r *File) ID() (id journal.RunID, err error) {
	b, err := hex.DecodeString(r.RunID)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("run.json: run_id %q is not %d bytes in hexadecimal", r.RunID, len(id))
	}
	return journal.RunID(b), nil
}

// Move says that the experiment file is elsewhere: on another machine. It returns
// false where it is not.
func (r *File) Move(file string) bool {
	abs, err := filepath.Abs(file)
	if err != nil || abs == r.File {
		return false
	}
	r.File = abs
	return true
}

// Path is where an experiment has it.
func Path(d storage.Dir) string { return filepath.Join(d.Path(), "run.json") }

// Write replaces the file at once.
func (r *File) Write(d storage.Dir) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return storage.WriteFile(Path(d), append(text, '\n'))
}

// ErrNone is returned where no experiment is.
var ErrNone = errors.New("there is no experiment here; `tunehost ls` shows those that there are")

// ErrFile is returned where a file is, and not the directory of an experiment.
var ErrFile = errors.New("this is a file, expected the directory of an experiment; `tunehost ls` shows them, " +
	"`tunehost run FILE` runs an experiment file")

// ErrUnreadable is returned for a run.json that is damaged or of a newer version.
var ErrUnreadable = errors.New("cannot be read")

// Read reads what a directory holds, as it was recorded.
func Read(d storage.Dir) (*File, *config.Experiment, error) {
	text, err := storage.ReadFile(Path(d), maxBytes)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Exists() {
		return nil, nil, fmt.Errorf("%s: %w", d.Path(), ErrNone)
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, nil, fmt.Errorf("%s: %w", d.Path(), ErrFile)
	}
	if err != nil {
		return nil, nil, storage.Closed(Path(d), err)
	}
	r := &File{}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(r); err != nil {
		return nil, nil, fmt.Errorf("%s %w: %w; put it back from a copy", Path(d), ErrUnreadable, err)
	}
	if err := r.readable(); err != nil {
		return nil, nil, fmt.Errorf("%s %w: %w", Path(d), ErrUnreadable, err)
	}
	source, err := storage.ReadFile(d.Experiment(), maxBytes)
	if err != nil {
		return nil, nil, storage.Closed(d.Experiment(), err)
	}
	e, err := r.Parse(source)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", d.Experiment(), err)
	}
	return r, e, nil
}

// readable: the text is a run.json, and no newer one than this program knows.
func (r *File) readable() error {
	switch {
	case r.Version > version:
		return fmt.Errorf("it has version %d, this program knows version %d: use a newer tunehost", r.Version, version)
	case r.Version < version || r.RunID == "":
		return errors.New("it was damaged, or replaced by another file; put it back from a copy")
	}
	return nil
}

// Parse reads the recorded experiment file with the overrides.
func (r *File) Parse(source []byte) (*config.Experiment, error) {
	return r.ParseAt(source, len(r.Extensions))
}

// ParseAt reads it as it was between two extensions: 0 is before the first one.
func (r *File) ParseAt(source []byte, extensions int) (*config.Experiment, error) {
	sets := r.Overrides
	if extensions < len(r.Extensions) {
		sets = sets[:min(max(r.Extensions[extensions].Overrides, 0), len(sets))]
	}
	e, err := config.Parse(r.File, source, config.WithSet(sets...), config.WithoutTrainable(), config.Recorded(r.Reading))
	if err != nil {
		return nil, fmt.Errorf("the recorded experiment cannot be read: %w", err)
	}
	e.Name = r.Name
	return e, nil
}
