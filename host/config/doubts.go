package config

import (
	"path"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// doubts warns of settings that are valid but probably not intended.
func (b *builder) doubts() {
	b.oneTrial()
	b.endlessGrid()
	b.ownResources()
}

// oneTrial warns of a searcher without trials: naming a searcher means that more than one trial is
// wanted.
func (b *builder) oneTrial() {
	axis := func(p space.Param) bool { return p.Grid }
	switch {
	case b.root.has("trials") || !b.root.has("searcher") || b.root.has("points"):
	case b.e.Space != nil && slices.ContainsFunc(b.e.Space.Params, axis): // a grid multiplies trials
	case b.e.Searcher.Name == "grid":
		b.warn(placeOf(b.root, "searcher", b.root.pos), "without trials only one is run; for every combination once "+
			"write trials: -1")
	default:
		b.warn(placeOf(b.root, "searcher", b.root.pos), "without trials only one is run; write how many, such as "+
			"trials: 100")
	}
}

// endlessGrid warns of grids that are repeated for ever, by users who want each combination once.
func (b *builder) endlessGrid() {
	if b.e.Searcher.Name != "grid" || b.e.Trials >= 0 || b.e.Space == nil || len(b.e.Space.Params) == 0 ||
		b.root.has("budget") || slices.ContainsFunc(b.e.Space.Params, func(p space.Param) bool { return !p.Grid }) {
		return
	}
	b.warn(placeOf(b.root, "trials", b.root.pos), "without an end: the space has only grids, which are repeated; to "+
		"run each combination once leave trials out")
}

// builtIn maps other spellings to the names of the resources that a machine has.
var builtIn = map[string]string{"cpu": "cpu", "cpus": "cpu", "core": "cpu", "cores": "cpu",
	"gpu": "gpu", "gpus": "gpu", "mem": "memory", "ram": "memory", "memory": "memory"}

// ownResources warns of a custom resource whose name is close to a built-in one.
func (b *builder) ownResources() {
	maps := []*node{b.root.get("resources")}
	if p := b.root.get("placement"); p != nil && !b.bad["placement"] {
		maps = append(maps, p.get("bundles").items...)
	}
	for _, n := range maps {
		if n == nil || n.kind != mapKind {
			continue
		}
		for _, e := range n.keys {
			if meant := builtIn[strings.ToLower(e.name)]; meant != "" && meant != e.name {
				b.warn(e.pos, "%s is taken as a resource of your own; did you mean %s?", quote(e.name), quote(meant))
			}
		}
	}
}

// ownFiles lists the files that the host writes in a trial's directory.
var ownFiles = []string{"params.json", "result.jsonl", "progress.csv", "error.txt", "checkpoints", ".checkpoints",
	"export"}

// logFiles checks that log files lie in the trial's directory and are not the host's own files.
func (b *builder) logFiles(n *node) {
	for i, e := range n.keys {
		switch name := e.value.text; {
		case i > 0 && e.value == n.keys[0].value: // the same name for both
		case path.Base(name) != name || strings.Contains(name, `\`) || name == "." || name == "..":
			b.fail(e.value.pos, "found %s, expected the name of a file in the trial's directory", quote(name))
		case slices.Contains(ownFiles, name):
			b.fail(e.value.pos, "%s is a file that tunehost writes itself; choose another name", quote(name))
		}
	}
}

// variables checks the names of environment variables: they must be valid and not set by the host.
func (b *builder) variables(n *node) {
	if n == nil {
		return
	}
	for _, e := range n.keys {
		switch {
		case e.name == "" || strings.ContainsAny(e.name, "=\x00"):
			b.fail(e.pos, "%s cannot be the name of a variable", quote(e.name))
		case strings.HasPrefix(e.name, "TUNEHOST_"):
			b.fail(e.pos, "%s is set by tunehost; choose another name", e.name)
		}
	}
}
