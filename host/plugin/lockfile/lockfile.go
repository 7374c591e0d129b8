// Package lockfile reads and writes tunehost.lock: the plugins that an experiment uses, and their
// checksums. The host writes it when an experiment begins, and refuses to continue with other plugins
// unless told to.
//
// Plugins in folders are pinned by the checksums of their files. Plugins in the tunehost binary are
// pinned by their own version, which changes when their behaviour changes. The binary's checksum is
// not used, because any change of tunehost changes it.
package lockfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// version is the newest that this program knows.
const version = 1

// maxShown is how many bytes of a lock's values are shown.
const maxShown = 512

// maxBytes is larger than any lock.
const maxBytes = 64 << 20

// File is tunehost.lock.
type File struct {
	Version int `json:"version"`
	// Tunehost is the version that wrote it.
	Tunehost string   `json:"tunehost"`
	Plugins  []Plugin `json:"plugins"`
	// Accepted are changed plugins that the user accepted, oldest first.
	Accepted []Change `json:"accepted,omitempty"`
	// Earlier are plugins that the experiment used before it was extended with others: a replay starts them again.
	Earlier []Plugin `json:"earlier,omitempty"`
}

// Change is one difference of a plugin that the user accepted.
type Change struct {
	Time time.Time `json:"time"`
	Kind sdk.Kind  `json:"kind"`
	Name string    `json:"name"`
	// What says what changed, as in `the SHA-256 of /plugins/mine/main.py`.
	What string `json:"what"`
	Was  string `json:"was"`
	Is   string `json:"is"`
}

// String returns one line for the user.
func (c Change) String() string {
	text := fmt.Sprintf("%s %q was changed, and accepted on %s: %s was %s, is %s",
		c.Kind, c.Name, c.Time.Local().Format("2006-01-02 15:04:05"), c.What, short(c.Was), short(c.Is))
	return untrusted.Line(text, maxShown)
}

// short abbreviates a checksum.
func short(sum string) string {
	if len(sum) == 64 {
		return sum[:12] + "…"
	}
	return sum
}

// Values of Covers for a plugin with every file of its folder pinned, and for one whose command names further files
// outside of the folder, which are pinned, too.
const (
	WholeFolder      = "folder"
	FolderAndCommand = "folder and command"
)

// Plugin is a plugin that the experiment uses.
type Plugin struct {
	Kind sdk.Kind `json:"kind"`
	Name string   `json:"name"`
	// Version is what the plugin said when it ran.
	Version string `json:"version"`
	// Transport is bundled, process or wasm.
	Transport string `json:"transport"`
	// Path and SHA256 are empty for bundled plugins. Files are further files, by their path in the
	// plugin's folder, or as its command names them; Covers says whether they are all.
	Path   string            `json:"path,omitempty"`
	SHA256 string            `json:"sha256,omitempty"`
	Files  map[string]string `json:"files,omitempty"`
	Covers string            `json:"covers,omitempty"`
	Grants *Grants           `json:"grants,omitempty"`
}

// Grants are what the experiment grants a plugin.
type Grants struct {
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"`
	Env   []string `json:"env,omitempty"`
	Clock bool     `json:"clock,omitempty"`
}

// GrantsOf converts grants for the record; nil for none.
func GrantsOf(g config.Grant) *Grants {
	if len(g.Read) == 0 && len(g.Write) == 0 && len(g.Env) == 0 && !g.Clock {
		return nil
	}
	return &Grants{g.Read, g.Write, g.Env, g.Clock}
}

// New returns a lock of these plugins.
func New(tunehost string, plugins []Plugin) *File {
	return &File{Version: version, Tunehost: tunehost, Plugins: plugins}
}

// Path returns the path of an experiment's lock.
func Path(d storage.Dir) string { return filepath.Join(d.Path(), "tunehost.lock") }

// Write replaces the file atomically.
func (f *File) Write(d storage.Dir) error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return storage.WriteFile(Path(d), append(text, '\n'))
}

// Read returns what an experiment has recorded; nil if it has no lock.
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
		return nil, fmt.Errorf("%s is damaged: %w; restore it, or "+
			"continue with the present plugins: --accept-plugins", path, err)
	}
	if f.Version < version {
		return nil, fmt.Errorf("%s was damaged, or replaced by another file; restore it, or continue "+
			"with the present plugins: --accept-plugins", path)
	}
	if f.Version > version {
		return nil, fmt.Errorf("%s: version %d, but this program knows version %d: use a newer tunehost", path,
			f.Version, version)
	}
	return f, nil
}

// Allows says how a plugin differs from the locked one of its kind. A plugin of another name is the
// user's choice, and is allowed.
func (f *File) Allows(now Plugin) error {
	changes := f.Changes(now)
	if len(changes) == 0 {
		return nil
	}
	c, more := changes[0], ""
	if len(changes) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(changes)-1)
	}
	return fmt.Errorf("%s %q is not the one that this experiment began with: %s is %s, tunehost.lock has %s%s; "+
		"restore the old one, or continue with this one: --accept-plugins",
		now.Kind, now.Name, untrusted.Line(c.What, maxShown), c.Is, untrusted.Line(c.Was, maxShown), more)
}

// Lists reports whether the lock has a plugin of the kind and name, changed or not.
func (f *File) Lists(p Plugin) bool { return f.find(p) != nil }

// find returns the plugin of the kind and name; nil if there is none.
func (f *File) find(p Plugin) *Plugin {
	for _, list := range [][]Plugin{f.Plugins, f.Earlier} {
		if i := slices.IndexFunc(list, p.isNamesake); i >= 0 {
			return &list[i]
		}
	}
	return nil
}

func (p Plugin) isNamesake(x Plugin) bool { return x.Kind == p.Kind && x.Name == p.Name }

// Changes returns all differences from the locked plugin, without a time.
func (f *File) Changes(now Plugin) (list []Change) {
	then := f.find(now)
	if then == nil {
		return nil
	}
	add := func(what, was, is string) {
		if was != is {
			list = append(list, Change{Kind: now.Kind, Name: now.Name, What: what, Was: cmp.Or(was, "none"),
				Is: cmp.Or(is, "not there")})
		}
	}
	add("its transport", then.Transport, now.Transport)
	for _, name := range covered(*then, now) {
		add("the SHA-256 of "+inFolder(now.Path, name), then.Files[name], now.Files[name])
	}
	if len(list) == 0 { // for a folder it is the checksum of one of these files
		add("the SHA-256 of "+now.Path, then.SHA256, now.SHA256)
	}
	if now.Path == "" {
		add("its version", then.Version, now.Version)
	}
	return list
}

func inFolder(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// covered returns the files to compare: for an older lock, only those that it has.
func covered(then, now Plugin) []string {
	both := map[string]string{}
	if then.Covers == now.Covers {
		maps.Copy(both, now.Files)
	}
	maps.Copy(both, then.Files)
	return slices.Sorted(maps.Keys(both))
}

// Succeed copies the accepted changes of an earlier lock, and its plugins that are not used any more. If the user has
// accepted the changes since then, it adds them; otherwise a plugin that the earlier lock pinned by fewer files stays
// pinned by these files.
func (f *File) Succeed(before *File, accepted bool, at time.Time) {
	f.Accepted = before.Accepted
	for _, p := range slices.Concat(before.Plugins, before.Earlier) {
		if !f.Lists(p) {
			f.Earlier = append(f.Earlier, p)
		}
	}
	for i, now := range f.Plugins {
		then := before.find(now)
		if then == nil {
			continue
		}
		if !accepted {
			if then.Covers != now.Covers {
				f.Plugins[i].Covers, f.Plugins[i].Files = then.Covers, then.Files
			}
			continue
		}
		for _, c := range before.Changes(now) {
			c.Time = at.UTC().Truncate(time.Second)
			f.Accepted = append(f.Accepted, c)
		}
	}
	f.Accepted = f.Accepted[max(len(f.Accepted)-maxAccepted, 0):]
}

// maxAccepted is how many changes are kept, the newest.
const maxAccepted = 1000

// Same reports whether two locks are equal.
func (f *File) Same(other *File) bool {
	a, errA := json.Marshal(f)
	b, errB := json.Marshal(other)
	return errA == nil && errB == nil && string(a) == string(b)
}
