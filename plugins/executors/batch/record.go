package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/internal/plainfile"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// folder is the executor's folder in the experiment's directory. The prefix of the experiment's
// leases with recordSuffix is the file in it with their jobs.
const (
	folder       = ".batch"
	recordSuffix = "jobs.json"
	format       = "tunehost batch jobs"
	version      = 1
	// maxRecord bounds what is read: 10,000 leases are less.
	maxRecord = 64 << 20
)

// record is the content of the file.
type record struct {
	Format  string            `json:"format"`
	Version int               `json:"version"`
	Leases  map[string]*lease `json:"leases"`
}

// lease is the recorded state of a requested lease.
type lease struct {
	// ID is the job's; "": the job was about to be submitted, and it is unknown whether it was.
	ID      string `json:"id"`
	Bundles int    `json:"bundles"`
	GPUs    int    `json:"gpus,omitempty"` // of each bundle
	// Spread: each of its bundles must be on another node.
	Spread bool `json:"spread,omitempty"`
	// Granted are its places since it runs; Began is a time before it ran, in nanoseconds since
	// 1970.
	Granted []sdk.GrantedBundle `json:"granted,omitempty"`
	Began   int64               `json:"began,omitempty"`

	why     string // the reason that was last reported for its wait
	ending  bool   // the host was told
	crowded bool   // its job is being ended because of its nodes
	gone    int    // how often in a row the system did not list it
	runs    int    // how often it was seen running before its places were known
}

// store is the folder.
type store struct {
	dir    string
	root   *os.Root
	record string // the file of the record
}

// openStore opens the folder, and makes it if it is not there.
func openStore(experiment, prefix string) (*store, error) {
	dir := filepath.Join(experiment, folder)
	root, err := plainfile.Private(dir)
	if err != nil {
		return nil, err
	}
	return &store{dir, root, prefix + recordSuffix}, nil
}

// read reads the record; without the file there are no leases.
func (s *store) read() (map[string]*lease, error) {
	f, err := plainfile.In(s.root, s.record, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]*lease{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err == nil {
		var leases map[string]*lease
		if leases, err = decode(text); err == nil {
			return leases, nil
		}
	}
	return nil, fmt.Errorf("%s is no record of jobs (%w): move it away if no job of the experiment is left",
		f.Name(), err)
}

func decode(text []byte) (map[string]*lease, error) {
	if len(text) > maxRecord {
		return nil, fmt.Errorf("it is longer than %d MiB", maxRecord>>20)
	}
	var r record
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, err
	}
	if r.Format != format || r.Version != version || r.Leases == nil {
		return nil, fmt.Errorf("this tunehost reads %q version %d", format, version)
	}
	for name, l := range r.Leases {
		if l == nil || !plainName(name) || !l.sound() {
			return nil, fmt.Errorf("lease %q is not as this program writes it", name)
		}
	}
	return r.Leases, nil
}

// sound reports whether this program can have written the lease.
func (l *lease) sound() bool {
	return l.Bundles >= 1 && l.GPUs >= 0 && (l.Granted == nil || len(l.Granted) == l.Bundles)
}

// plainName reports whether a lease's name can be the name of a file, and a word of a command.
func plainName(name string) bool {
	return name != "" && len(name) <= 63 && !strings.HasPrefix(name, "-") && strings.Trim(name,
		"abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// write writes the record.
func (s *store) write(leases map[string]*lease) error {
	text, err := json.Marshal(record{format, version, leases})
	if err != nil {
		return err
	}
	return plainfile.Replace(s.root, s.record, text)
}

// vacate removes old files in the place of a new lease's files. Jobs write some of them, and a job
// that finds a note of an earlier beginning ends at once. Anything that no job can have left is an
// error.
func (s *store) vacate(lease string, bundles int) error {
	for _, name := range files(lease, bundles) {
		info, err := s.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if folder := name == lease+begunSuffix; folder && !info.IsDir() || !folder && !info.Mode().IsRegular() {
			return plainfile.NotFile(filepath.Join(s.dir, name), info.Mode())
		}
	}
	return s.clear(lease, bundles, false)
}

// files returns the names of the files of a lease, the log last.
func files(lease string, bundles int) []string {
	names := []string{lease + scriptSuffix, lease + bundleSuffix, lease + begunSuffix, lease + failedSuffix}
	for i := range bundles {
		names = append(names, fmt.Sprint(lease, placeSuffix, i), fmt.Sprint(lease, placeSuffix, i, ".new"))
	}
	return append(names, lease+logSuffix)
}

// put writes a script.
func (s *store) put(name, text string) error {
	return plainfile.Replace(s.root, name, []byte(text))
}

// maxNote bounds what is read of the files that jobs write.
const maxNote = 64 << 10

// note returns the lines of a small file that a job has written; nil if it does not exist.
func (s *store) note(name string) []string {
	f, err := plainfile.In(s.root, name, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxNote))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// lastLine returns the last line that a job has printed, or "".
func (s *store) lastLine(lease string) string {
	f, err := plainfile.In(s.root, lease+logSuffix, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > maxNote {
		_, _ = f.Seek(-maxNote, io.SeekEnd)
	}
	text, _ := io.ReadAll(io.LimitReader(f, maxNote))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lastOf(lines[len(lines)-1])
}

// disarm removes the scripts of a lease, which have its secret: its job cannot begin any more. The system may take
// long to cancel it.
func (s *store) disarm(lease string) error {
	return errors.Join(s.root.RemoveAll(lease+scriptSuffix), s.root.RemoveAll(lease+bundleSuffix))
}

// clear removes the files of a lease, its log too if it ended well.
func (s *store) clear(lease string, bundles int, log bool) error {
	names := files(lease, bundles)
	if !log {
		names = names[:len(names)-1]
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, s.root.RemoveAll(name))
	}
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return err == nil })...)
}
