// Package lockfile is tunehost.lock: the plugins that an experiment uses, and
// their checksums. The host writes it when an experiment begins, and refuses to
// go on with other plugins unless told to.
//
// Plugins in folders are pinned by the checksums of their files. Those in the
// tunehost binary are pinned by the version that they say they have, which
// changes with what they do: the binary's checksum changes with everything.
package lockfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// version is the newest that this program knows.
const version = 1

// maxShown is how much of what a lock says is shown, in bytes.
const maxShown = 512

// maxBytes is larger than any lock is.
const maxBytes = 64 << 20

// File is tunehost.lock.
type File struct {
	Version int `json:"version"`
	// Tunehost is the version that wrote it.
	Tunehost string   `json:"tunehost"`
	Plugins  []Plugin `json:"plugins"`
}

// Plugin is one that the experiment uses.
type Plugin struct {
	Kind sdk.Kind `json:"kind"`
	Name string   `json:"name"`
	// Version is what the plugin said when it ran.
	Version string `json:"version"`
	// Transport is bundled, process or wasm.
	Transport string `json:"transport"`
	// Path and SHA256 are empty for bundled plugins. Files are further files,
	// by their path in the plugin's folder.
	Path   string            `json:"path,omitempty"`
	SHA256 string            `json:"sha256,omitempty"`
	Files  map[string]string `json:"files,omitempty"`
	Grants *Grants           `json:"grants,omitempty"`
}

// Grants are what the experiment grants a plugin.
type Grants struct {
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"`
	Env   []string `json:"env,omitempty"`
	Clock bool     `json:"clock,omitempty"`
}

// GrantsOf are the grants as they are recorded; nil where there are none.
func GrantsOf(g config.Grant) *Grants {
	if len(g.Read) == 0 && len(g.Write) == 0 && len(g.Env) == 0 && !g.Clock {
		return nil
	}
	return &Grants{g.Read, g.Write, g.Env, g.Clock}
}

// New is a lock of these plugins.
func New(tunehost string, plugins []Plugin) *File { return &File{version, tunehost, plugins} }

// Path is where an experiment has it.
func Path(d storage.Dir) string { return filepath.Join(d.Path(), "tunehost.lock") }

// Write replaces the file at once.
func (f *File) Write(d storage.Dir) error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return storage.WriteFile(Path(d), append(text, '\n'))
}

// Read is what an experiment has recorded; nil where it has no lock.
func Read(d storage.Dir) (*File, error) {
	text, err := storage.ReadFile(Path(d), maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parse(Path(d), text)
}

func parse(path string, text []byte) (*File, error) {
	f := &File{}
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; put it back, or go on with the plugins as they are: --accept-plugins", path, err)
	}
	if f.Version != version {
		return nil, fmt.Errorf("%s: version %d, but this program knows version %d: use a newer tunehost", path, f.Version, version)
	}
	return f, nil
}

// Allows says how a plugin differs from the one of its kind that is locked. One
// of another name is the user's own choice, and allowed.
func (f *File) Allows(now Plugin) error {
	i := slices.IndexFunc(f.Plugins, func(p Plugin) bool { return p.Kind == now.Kind && p.Name == now.Name })
	if i < 0 {
		return nil
	}
	what, is, was := difference(now, f.Plugins[i])
	if what == "" {
		return nil
	}
	return fmt.Errorf("%s %q is not the one that this experiment began with: %s is %s, tunehost.lock has %s; put the old one back, or go on with this one: --accept-plugins",
		now.Kind, now.Name, untrusted.Line(what, maxShown), is, untrusted.Line(was, maxShown))
}

func difference(now, then Plugin) (what, is, was string) {
	switch {
	case now.Transport != then.Transport:
		return "its transport", now.Transport, then.Transport
	case now.SHA256 != then.SHA256:
		return "the SHA-256 of " + now.Path, now.SHA256, then.SHA256
	case now.Path == "" && now.Version != then.Version:
		return "its version", now.Version, then.Version
	}
	both := maps.Clone(now.Files)
	if both == nil {
		both = map[string]string{}
	}
	maps.Copy(both, then.Files)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if now.Files[name] != then.Files[name] {
			return "the SHA-256 of " + filepath.Join(now.Path, name), orNone(now.Files[name]), orNone(then.Files[name])
		}
	}
	return "", "", ""
}

func orNone(sum string) string {
	if sum == "" {
		return "not recorded"
	}
	return sum
}

// Same says whether two locks hold the same.
func (f *File) Same(other *File) bool {
	a, errA := json.Marshal(f)
	b, errB := json.Marshal(other)
	return errA == nil && errB == nil && string(a) == string(b)
}
