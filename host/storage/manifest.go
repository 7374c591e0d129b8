package storage

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/internal/lazily"
	"github.com/tunehost/tunehost/internal/plainfile"
)

const (
	manifest = "MANIFEST.json"
	// maxFiles is the largest number of files of a checkpoint.
	maxFiles = 100_000
	// maxManifest is larger than any manifest of maxFiles files.
	maxManifest = 512 << 20
)

var sha256Pattern = lazily.Regexp(`^[0-9a-f]{64}$`)

// Manifest lists the files of a checkpoint; a checkpoint without a manifest is incomplete.
type Manifest struct {
	Trial     uint32 `json:"trial"`
	Attempt   uint32 `json:"attempt"`
	Iteration uint64 `json:"iteration"`
	// Format is the format of an exported model; "" for a checkpoint.
	Format string `json:"format,omitempty"`
	// Parent is the checkpoint that the attempt restored.
	Parent *Parent `json:"parent,omitempty"`
	// Stored is the folder of the experiment's storage that has the files, each named after its SHA-256,
	// because the node of the trial wrote them there. "": they are in the checkpoint's own folder, and the
	// host copies them to the storage.
	Stored string `json:"stored,omitempty"`
	// Files are sorted by path.
	Files []File `json:"files"`
}

// Parent names a checkpoint: a trial's ID-th.
type Parent struct {
	Trial uint32 `json:"trial"`
	ID    uint32 `json:"id"`
}

// File is one file of a checkpoint.
type File struct {
	Path   string `json:"path"` // with slashes, relative to files/
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Size returns the sum of the files' sizes in bytes.
func (m *Manifest) Size() (sum int64) {
	for _, f := range m.Files {
		sum += f.Bytes
	}
	return sum
}

func (m *Manifest) text() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", " ")
	return append(text, '\n'), err
}

// ReadManifest reads a checkpoint's manifest. Every error is a [DamagedError].
func ReadManifest(dir string) (m Manifest, err error) {
	text, err := nolink.ReadFile(filepath.Join(dir, manifest), maxManifest)
	if err == nil {
		m, err = parseManifest(text)
	}
	if err != nil {
		return Manifest{}, &DamagedError{dir, fmt.Sprintf("%s: %v", manifest, reason(err))}
	}
	return m, nil
}

func parseManifest(text []byte) (m Manifest, err error) {
	if err = json.Unmarshal(text, &m); err == nil {
		err = m.check()
	}
	return m, err
}

// check checks that a host could have made the list: each file once, in order, and inside the
// checkpoint.
func (m *Manifest) check() error {
	if len(m.Files) > maxFiles {
		return fmt.Errorf("%d files, more than the %d possible", len(m.Files), maxFiles)
	}
	if m.Stored != "" && !fs.ValidPath(m.Stored) {
		return fmt.Errorf("%q cannot be a folder of a storage", m.Stored)
	}
	for i, f := range m.Files {
		switch {
		case !fs.ValidPath(f.Path) || f.Path == ".":
			return fmt.Errorf("%q cannot be the path of a file in a checkpoint", f.Path)
		case !sha256Pattern().MatchString(f.SHA256): // files are found by it
			return fmt.Errorf("%q of %s is not a SHA-256", f.SHA256, f.Path)
		case i > 0 && f.Path <= m.Files[i-1].Path:
			return fmt.Errorf("%q is listed twice or out of order", f.Path)
		}
	}
	return nil
}

// DamagedError says that a checkpoint differs from what was saved.
type DamagedError struct{ Dir, What string }

func (e *DamagedError) Error() string {
	return fmt.Sprintf("checkpoint %s is damaged: %s", e.Dir, e.What)
}

// CheckRecorded checks that the checkpoint in dir is the one that the record means, and no other that was put in its
// place. Every error is a [DamagedError].
func CheckRecorded(dir string, ref core.CheckpointRef) error {
	m, err := ReadManifest(dir)
	if err != nil {
		return err
	}
	return m.Recorded(dir, ref)
}

// Recorded is [CheckRecorded] for a manifest that was read. The checkpoint that all trials start from keeps the trial
// and the attempt that it had in another experiment.
func (m *Manifest) Recorded(dir string, ref core.CheckpointRef) error {
	same := ref.Trial == core.NoTrial || m.Trial == uint32(ref.Trial) && m.Attempt == ref.Attempt
	if same && m.Iteration == ref.Iteration {
		return nil
	}
	saved := fmt.Sprintf("of trial %d, attempt %d, iteration %d", ref.Trial, ref.Attempt, ref.Iteration)
	if ref.Trial == core.NoTrial {
		saved = fmt.Sprintf("of iteration %d", ref.Iteration)
	}
	return &DamagedError{dir, fmt.Sprintf("it holds the checkpoint of trial %d, attempt %d, iteration %d instead of "+
		"that %s", m.Trial, m.Attempt, m.Iteration, saved)}
}

// CheckCheckpoint compares a checkpoint's manifest with the files; if deep, their hashes too. Files that are in
// the storage alone are not looked at.
func CheckCheckpoint(dir string, deep bool) (Manifest, error) {
	m, err := ReadManifest(dir)
	if err != nil || m.Away(dir) {
		return m, err
	}
	root, err := nolink.OpenRoot(filepath.Join(dir, contents))
	if err != nil {
		return m, &DamagedError{dir, reason(err).Error()}
	}
	defer root.Close()
	for _, f := range m.Files {
		if err := checkFile(root, f, deep); err != nil {
			return m, &DamagedError{dir, err.Error()}
		}
	}
	return m, nil
}

func checkFile(root *os.Root, f File, deep bool) error {
	in, err := f.Open(root)
	if err != nil {
		return err
	}
	defer in.Close()
	if !deep {
		return nil
	}
	sum, err := hash(in)
	return f.compare(sum, err)
}

// Open opens the file below a checkpoint's files if it has the right kind and size.
func (f *File) Open(root *os.Root) (*os.File, error) {
	in, err := plainfile.In(root, filepath.FromSlash(f.Path), os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, reason(err))
	}
	info, err := in.Stat()
	if err == nil && info.Size() != f.Bytes {
		err = fmt.Errorf("%s has %d bytes instead of %d", f.Path, info.Size(), f.Bytes)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

func (f *File) compare(sum string, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", f.Path, reason(err))
	case sum != f.SHA256:
		return fmt.Errorf("%s was changed", f.Path)
	}
	return nil
}

// ManifestText returns the text of a checkpoint's manifest.
func ManifestText(dir string) ([]byte, error) {
	return nolink.ReadFile(filepath.Join(dir, manifest), maxManifest)
}

// FileIn returns the path of a file that a manifest lists.
func FileIn(dir, path string) string { return filepath.Join(dir, contents, filepath.FromSlash(path)) }

// NoCheckpoint reports, by its name, that a folder contains no checkpoints: it holds a checkpoint's
// files, or a checkpoint that is being made or removed.
func NoCheckpoint(name string) bool {
	switch filepath.Ext(name) {
	case beingMade, beingKept, beingGone:
		return true
	}
	return name == contents || name == restored || name == own || name == exporting
}
