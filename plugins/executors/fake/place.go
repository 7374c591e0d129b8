package fake

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// stateFile is the cluster of an experiment that shares it with no other.
const stateFile = ".fake-cluster.json"

// hostFiles are the names that tunehost uses in an experiment's directory.
var hostFiles = []string{"experiment.yaml", "run.json", "tunehost.lock", "LOCK", "journal", "trials", "snapshots",
	"checkpoints", "start", "learned.jsonl", "mirror.json", "host.log", ".crash.txt", "control", ".reported",
	"uploads.json", "unreleased.json", "leaving.json", "place.json", ".room", ".full", ".full-inodes", ".full-quota",
	"agents", agentDir}

// statePath returns the path of the cluster's file.
func (o *options) statePath(dir string) string {
	path := cmp.Or(o.State, stateFile)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// checkState refuses a state file that cannot be one, before anything is opened.
func (o *options) checkState(dir string) error {
	if strings.ContainsFunc(o.State, unicode.IsControl) {
		return option.Wrong("state", o.State, "a file name without control characters")
	}
	if o.State != "" && strings.HasSuffix(o.State, string(filepath.Separator)) {
		return option.Wrong("state", o.State, "a file, not a folder")
	}
	path := o.statePath(dir)
	for _, name := range []string{path, path + ".lock"} {
		if ofHost(dir, name) {
			return option.Wrong("state", o.State, "a file that tunehost does not use itself, for example cluster.json")
		}
	}
	return nil
}

// ofHost reports whether a path is, or lies below, what tunehost uses in the experiment's directory.
func ofHost(dir, path string) bool {
	rel, err := filepath.Rel(resolved(dir), filepath.Join(resolved(filepath.Dir(path)), filepath.Base(path)))
	if err != nil {
		return false
	}
	first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	// Some file systems do not distinguish upper and lower case.
	return first == "." || slices.ContainsFunc(hostFiles, func(name string) bool {
		return strings.EqualFold(name,
			first)
	})
}

// resolved follows the links of a folder, if it exists.
func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
