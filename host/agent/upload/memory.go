package upload

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/untrusted"
)

// Memory has the contents of files as they were first uploaded, so that the user learns when later trials get
// other files. It is kept in a file, for the next host.
type Memory struct {
	path string
	mu   sync.Mutex
	is   *remembered // nil: not read yet
}

// remembered is the content of the file.
type remembered struct {
	// Names are the names that the user has listed.
	Names []string `json:"names"`
	// Files are the contents by their paths; "": the user was told that it has changed.
	Files map[string]string `json:"files"`
}

// Remember returns the memory that is kept in a file.
func Remember(path string) *Memory { return &Memory{path: path} }

// maxMemory is larger than the file of a tree of maxFiles, in bytes.
const maxMemory = 1 << 30

// Changes returns the files of a tree that are not as they were when it was first uploaded, the first time for each.
// After the user has listed other names, files that are only in one of the trees are not changes.
func (m *Memory) Changes(names []string, t *Tree) (changed []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := contents(t)
	if m.is == nil {
		m.is, err = readMemory(m.path)
	}
	if m.is == nil {
		m.is = &remembered{slices.Clone(names), now}
		return nil, errors.Join(err, m.keep())
	}
	same := slices.Equal(names, m.is.Names)
	changed = m.is.differences(now, same)
	if len(changed) == 0 && same {
		return nil, nil
	}
	m.is.Names = slices.Clone(names)
	return changed, m.keep()
}

// Warning is the warning of files that have changed, the result of [Memory.Changes].
func Warning(paths []string) string {
	const text = " changed since the experiment began: trials that start on other nodes from now on get "
	first := untrusted.Line(paths[0], maxShown)
	if len(paths) == 1 {
		return first + " has" + text + "it as it is now"
	}
	return fmt.Sprintf("%s and %d more of the uploaded files have%sthem as they are now", first, len(paths)-1, text)
}

// maxShown is the length at which messages cut a path.
const maxShown = 200

// contents returns the files and links of a tree.
func contents(t *Tree) map[string]string {
	all := map[string]string{}
	for _, f := range t.Files {
		switch {
		case f.Link != "":
			all[f.Path] = "link to " + f.Link
		case !f.Dir:
			all[f.Path] = f.SHA256
		}
	}
	return all
}

// differences returns the paths of changed files, and records that they were reported.
func (r *remembered) differences(now map[string]string, sameNames bool) (paths []string) {
	for path, content := range now {
		was, known := r.Files[path]
		switch {
		case !known && !sameNames:
			r.Files[path] = content
		case !known, was != "" && was != content:
			paths = append(paths, path)
		}
	}
	for path, was := range r.Files {
		if _, there := now[path]; there || was == "" {
			continue
		}
		if sameNames {
			paths = append(paths, path)
		} else {
			delete(r.Files, path)
		}
	}
	for _, path := range paths {
		r.Files[path] = ""
	}
	slices.Sort(paths)
	return paths
}

// readMemory reads the file; nil if there is none, or if it is damaged.
func readMemory(path string) (*remembered, error) {
	text, err := storage.ReadFile(path, maxMemory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r := &remembered{}
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err == nil && r.Files == nil {
		err = errors.New("it has no files")
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w; changes of uploaded files before now are not noticed", path, err)
	}
	return r, nil
}

func (m *Memory) keep() error {
	text, err := json.Marshal(m.is)
	if err != nil {
		return err
	}
	if err := storage.WriteFile(m.path, append(text, '\n')); err != nil {
		return fmt.Errorf("%w; the next host does not notice changes of uploaded files", err)
	}
	return nil
}
