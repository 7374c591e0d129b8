// Package runfile reads and writes run.json: the facts about an experiment beside its file. The host
// writes it once, when an experiment begins; readers take the seed, the overrides and the run from it.
package runfile

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/home"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// version is the newest that this program knows.
const version = 1

// maxBytes is larger than any run.json or experiment file.
const maxBytes = 64 << 20

// File is run.json.
type File struct {
	Version int    `json:"version"`
	RunID   string `json:"run_id"`
	Seed    uint64 `json:"seed"`
	// Reading is the version of the rules that read the file when the experiment began ([config.Reading]).
	Reading int    `json:"reading,omitempty"`
	Name    string `json:"name"`
	// Overrides are settings applied over the file, as KEY=VALUE, in order.
	Overrides []string `json:"overrides"`
	// File is the path of the experiment file; programs in it are relative to its directory.
	File    string    `json:"file"`
	Created time.Time `json:"created"`
	// Extensions are the times when the experiment was resumed with another searcher, scheduler or space,
	// or was given settings that its file does not have, in order.
	Extensions []Extension `json:"extensions,omitempty"`
	// Capacity is what the machine offered when the experiment began. Plugins are told this capacity on
	// any machine.
	Capacity map[string]string `json:"capacity,omitempty"`
	// Learned describes what the searcher learned from other experiments; nil: nothing.
	Learned *Learned `json:"learned,omitempty"`
	// Source is the SHA-256 of the recorded experiment file, in hexadecimal; "": an earlier version wrote none.
	Source string `json:"experiment_sha256,omitempty"`

	place config.Place
}

// Extension is one of them; Overrides is how many of File.Overrides applied before it. Set says that
// only settings changed, as by `tunehost set`. InFile are the keys whose new values the experiment file had, or
// --set for one run: they hold until the file has others.
type Extension struct {
	Overrides int       `json:"overrides"`
	Time      time.Time `json:"time"`
	Set       bool      `json:"set,omitempty"`
	InFile    []string  `json:"in_file,omitempty"`
}

// Extended is how often the experiment was given another searcher, scheduler or space.
func (r *File) Extended() (n uint32) {
	for _, x := range r.Extensions {
		if !x.Set {
			n++
		}
	}
	return n
}

// Extension returns what the n-th extension, from 1, has changed of the searcher, the scheduler and the space, as
// KEY=VALUE.
func (r *File) Extension(n uint32) (sets []string) {
	for i, x := range r.Extensions {
		if x.Set {
			continue
		}
		if n--; n > 0 {
			continue
		}
		end := len(r.Overrides)
		if i+1 < len(r.Extensions) {
			end = r.Extensions[i+1].Overrides
		}
		for _, set := range r.Overrides[min(x.Overrides, end, len(r.Overrides)):min(end, len(r.Overrides))] {
			key, _, _ := strings.Cut(set, "=")
			if key, _, _ = strings.Cut(key, "."); key == "searcher" || key == "scheduler" || key == "space" {
				sets = append(sets, set)
			}
		}
		return sets
	}
	return nil
}

// Set is the file with more settings, each a KEY=VALUE.
func (r *File) Set(sets []string, now time.Time) *File {
	more := *r
	if len(sets) > 0 {
		x := Extension{Overrides: len(r.Overrides), Time: now.UTC(), Set: true}
		more.Extensions = append(slices.Clone(r.Extensions), x)
		more.Overrides = append(slices.Clone(r.Overrides), sets...)
	}
	return &more
}

// Learned identifies learned.jsonl and counts its trials.
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
	r := &File{Version: version, RunID: hex.EncodeToString(id[:]), Name: e.Name, Reading: config.Reading,
		Overrides: e.Overrides, File: file, Created: now.UTC(), Source: sumOf(e.Source)}
	if e.Seed != nil {
		r.Seed = *e.Seed
	} else {
		r.Seed = drawSeed()
	}
	return r, err
}

// drawSeed draws a seed that people can type: 32 random bits.
func drawSeed() uint64 {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // crypto/rand does not fail
	}
	return uint64(binary.LittleEndian.Uint32(b[:]))
}

// ID returns the run id of the journal.
func (r *File) ID() (id journal.RunID, err error) {
	b, err := hex.DecodeString(r.RunID)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("run.json: run_id %q is not %d bytes in hexadecimal", r.RunID, len(id))
	}
	return journal.RunID(b), nil
}

// Copied reports whether the directory is a copy that no host has run yet: its leases are the original's.
func (r *File) Copied(d storage.Dir) bool { return home.Of(d, r.RunID).Copy() }

// Move sets a new path of the experiment file, for another machine. It returns false if the path is
// unchanged.
func (r *File) Move(file string) bool {
	abs, err := filepath.Abs(file)
	if err != nil || abs == r.File {
		return false
	}
	r.File = abs
	return true
}

// Path returns the path of run.json.
func Path(d storage.Dir) string { return filepath.Join(d.Path(), "run.json") }

// Write replaces the file atomically.
func (r *File) Write(d storage.Dir) error {
	text, err := r.Text()
	if err != nil {
		return err
	}
	return storage.WriteFile(Path(d), text)
}

// Text is what Write writes.
func (r *File) Text() ([]byte, error) {
	whole := *r
	whole.File = r.place.There(r.File)
	text, err := json.MarshalIndent(&whole, "", "  ")
	return seal(text), err
}

// ErrNone says that a directory holds no experiment.
var ErrNone = errors.New("there is no experiment here; `tunehost ls` lists experiments")

// ErrFile says that a path is a file, not the directory of an experiment.
var ErrFile = errors.New("this is a file, expected the directory of an experiment; `tunehost ls` lists them, " +
	"`tunehost run FILE` runs an experiment file")

// ErrUnreadable says that a run.json is damaged or of a newer version.
var ErrUnreadable = errors.New("cannot be read")

// ErrGone says that a file is missing without which an experiment's record cannot be read.
var ErrGone = errors.New("it is gone, but the record or the trials of its experiment are there: put it back from a " +
	"copy")

// Lost reports whether the experiment in a directory has lost its file: a host that ends before the experiment exists
// has recorded nothing, and has no trials.
func Lost(d storage.Dir) bool {
	return errors.Is(Missing(d), ErrGone) && (isThere(Path(d)) || trials(d))
}

// Missing is the error of a directory without an experiment file or a run.json.
func Missing(d storage.Dir) error {
	for _, path := range []string{d.Experiment(), Path(d)} {
		if !isThere(path) && (recorded(d) || trials(d)) {
			return fmt.Errorf("%s: %w", path, ErrGone)
		}
	}
	if isThere(d.Experiment()) && !isThere(Path(d)) {
		return &halfError{d}
	}
	return fmt.Errorf("%s: %w", d.Path(), ErrNone)
}

// halfError says that there is no experiment, although there is its file.
type halfError struct{ dir storage.Dir }

// Error implements error.
func (e *halfError) Error() string {
	return fmt.Sprintf("%s: there is no experiment here: it has an %s, but no %s; put that back from a copy, or move "+
		"%[2]s away, or give a new experiment another --name or --storage",
		e.dir.Path(), filepath.Base(e.dir.Experiment()), filepath.Base(Path(e.dir)))
}

// Is makes it an ErrNone.
func (e *halfError) Is(target error) bool { return target == ErrNone }

func isThere(path string) bool {
	_, err := nolink.Lstat(path)
	return err == nil
}

// trials reports whether a host has begun trials in the directory. Other programs may have a folder of this name.
func trials(d storage.Dir) bool { return isThere(filepath.Join(d.Path(), "LOCK")) && d.HasTrials() }

// recorded reports whether the directory has a record with events, or one that is damaged.
func recorded(d storage.Dir) bool {
	found, err := history.Verify(d.Journal(), journal.RunID{})
	return err != nil && !errors.Is(err, journal.ErrNoJournal) || found.Next > 1
}

// Agree checks the recorded file and experiment of a directory against the record, whose settings are s: what settings
// never change after the beginning is the same in both. Errors: [ErrUnreadable].
func Agree(d storage.Dir, f *File, e *config.Experiment, s *core.Spec) error {
	if len(s.Objectives) == 0 { // nothing is recorded
		return nil
	}
	differs := func(path, what string, here, there any) error {
		return fmt.Errorf("%s %w: %s is %v there, and %v in the record; put it back from a copy", path, ErrUnreadable,
			what, here, there)
	}
	if f.Seed != s.Seed {
		return differs(Path(d), "the seed", f.Seed, s.Seed)
	}
	if len(e.Objectives) != len(s.Objectives) {
		return differs(d.Experiment(), "the number of objectives", len(e.Objectives), len(s.Objectives))
	}
	for i, o := range s.Objectives {
		here := e.Objectives[i]
		if here.Metric != o.Metric || (here.Mode == "max") != (o.Mode == stat.Max) {
			return differs(d.Experiment(), "the objective", here.Metric+" "+here.Mode, o.Metric+" "+o.Mode.String())
		}
	}
	return nil
}

// Read reads the recorded file and experiment of a directory.
func Read(d storage.Dir) (*File, *config.Experiment, error) {
	if err := d.CheckOwn(); err != nil {
		return nil, nil, err
	}
	text, err := storage.ReadFile(Path(d), maxBytes)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Exists() {
		return nil, nil, Missing(d)
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, nil, fmt.Errorf("%s: %w", d.Path(), ErrFile)
	}
	if err != nil {
		return nil, nil, storage.Closed(Path(d), err)
	}
	r := &File{}
	if err := r.decode(text); err != nil {
		return nil, nil, fmt.Errorf("%s %w: %w; put it back from a copy", Path(d), ErrUnreadable, err)
	}
	if err := r.readable(); err != nil {
		return nil, nil, fmt.Errorf("%s %w: %w", Path(d), ErrUnreadable, err)
	}
	source, err := storage.ReadFile(d.Experiment(), maxBytes)
	if err != nil {
		return nil, nil, storage.Closed(d.Experiment(), err)
	}
	if r.Source != "" && r.Source != sumOf(source) {
		return nil, nil, fmt.Errorf("%s %w: %w; put it back from a copy", d.Experiment(), ErrUnreadable, errChanged)
	}
	e, err := r.parseAt(d, source)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", d.Experiment(), err)
	}
	return r, e, nil
}

func (r *File) decode(text []byte) error {
	if err := checkSeal(text); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(r); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after its end")
	}
	return nil
}

// readable checks that the text is a run.json of a version that this program knows.
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
func (r *File) Parse(source []byte) (*config.Experiment, error) { return r.parse(source, r.Overrides) }

// ParseAlone reads the recorded experiment file without the overrides.
func (r *File) ParseAlone(source []byte) (*config.Experiment, error) { return r.parse(source, nil) }

// ParseAt reads it as it was before another searcher, scheduler or space, the first, second and so
// on of those that it was given; 0 is before the first.
func (r *File) ParseAt(source []byte, extensions int) (*config.Experiment, error) {
	for _, x := range r.Extensions {
		if x.Set {
			continue
		}
		if extensions == 0 {
			return r.ParseBefore(source, x)
		}
		extensions--
	}
	return r.Parse(source)
}

// ParseBefore reads it as it was before one of the extensions.
func (r *File) ParseBefore(source []byte, x Extension) (*config.Experiment, error) {
	return r.parse(source, r.Overrides[:min(max(x.Overrides, 0), len(r.Overrides))])
}

func (r *File) parse(source []byte, sets []string) (*config.Experiment, error) {
	e, err := config.Parse(r.File, source, config.WithSet(sets...), config.WithoutTrainable(),
		config.Recorded(r.Reading), config.Moved(r.place))
	if err != nil {
		return nil, fmt.Errorf("the recorded experiment cannot be read: %w", err)
	}
	e.Name = r.Name
	return e, nil
}
