package config

import (
	"path"
	"strings"

	"github.com/tunehost/tunehost/internal/lazily"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// ManifestFile is the name of the file that makes a folder a plugin.
const ManifestFile = "plugin.yaml"

// Manifest is a checked plugin.yaml.
type Manifest struct {
	// Kind is one of [sdk.Kinds].
	Kind string
	// Name is what users write in the experiment file.
	Name             string
	Version, Summary string
	// Command is the program and its arguments; empty for a module.
	Command []string
	// Module is the WebAssembly module's file in the folder, or "".
	Module string
	// SHA256 holds hex checksums by file name in the folder; "" is the program or module itself.
	SHA256 map[string]string
	// Unpinned holds patterns of files and folders in the folder that may change.
	Unpinned []string
	// Env names the variables of the user's environment that it needs.
	Env []string
	// Wants holds the grants that it needs.
	Wants Grant
	// File is the name of the file, for messages.
	File string

	tree *node
}

// PosOf returns the place of a key, or the file where the key is missing.
func (m *Manifest) PosOf(key string) Pos {
	if m.tree != nil {
		for _, e := range m.tree.keys {
			if e.name == key {
				return e.pos
			}
		}
	}
	return Pos{File: m.File}
}

var (
	pluginName = &scalar{expected: "lower case letters, digits and dashes",
		ok:   func(n *node) bool { return n.kind <= textKind && sdk.IsName(n.text) },
		json: map[string]any{"type": "string", "pattern": sdk.NamePattern}, norm: asText}

	checksum = &scalar{expected: "a SHA-256: 64 hexadecimal digits",
		ok:   func(n *node) bool { return n.kind <= textKind && checksumForm().MatchString(n.text) },
		json: map[string]any{"type": "string", "pattern": checksumForm().String()}, norm: asText}
	checksumForm = lazily.Regexp(`^[0-9a-fA-F]{64}$`)

	variable = &scalar{expected: "the name of a variable",
		ok:   func(n *node) bool { return n.kind == textKind && variableForm().MatchString(n.text) },
		json: map[string]any{"type": "string", "pattern": variableForm().String()}}
	variableForm = lazily.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

	// unpinned is a pattern, as in package path.
	unpinned = &scalar{expected: "a file or folder in the plugin's folder, a pattern such as logs/*.txt, or " +
		"a file elsewhere as command names it",
		ok: func(n *node) bool {
			_, err := path.Match(n.text, "")
			return n.kind <= textKind && err == nil && strings.Trim(n.text, "*/?.") != ""
		},
		json: map[string]any{"type": "string"}, norm: asText}
	// inFolder is a file below the plugin's folder.
	inFolder = &scalar{expected: "a file in the plugin's folder",
		ok:   func(n *node) bool { return n.kind <= textKind && isBelow(n.text) },
		json: map[string]any{"type": "string"}, norm: asText}
)

func isBelow(file string) bool {
	clean := path.Clean(file)
	return file != "" && !path.IsAbs(file) && clean != "." && clean != ".." && !strings.HasPrefix(clean, "../")
}

// kindNames returns the kinds of plugins as written in files.
func kindNames() (names []string) {
	for _, k := range sdk.Kinds() {
		names = append(names, string(k))
	}
	return names
}

var manifest = &object{
	keys: []key{
		{name: "kind", what: "what it is", shape: oneOf(kindNames()...)},
		{name: "name", what: "what users write in the experiment file", shape: pluginName},
		{name: "version", what: "its version", shape: word},
		{name: "summary", what: "one sentence for lists", shape: text},
		{name: "command", what: "the program and its arguments",
			shape: &listOf{item: word, some: true, like: " such as [python3, main.py]"}},
		{name: "module", what: "a WebAssembly module, instead of a command", shape: inFolder},
		{name: "sha256", what: "the checksum of the program or module, or of files by name",
			shape: &either{&object{extra: checksum}, isMap, checksum}},
		{name: "unpinned", what: "files and folders, or patterns of them, that may change",
			shape: &listOf{item: unpinned, single: true}},
		{name: "env", what: "variables of the user's environment that it wants", shape: &listOf{item: variable}},
		{name: "grants", what: "what it wants beyond that", shape: grant},
	},
	required: []string{"kind", "name"},
}

// ParseManifest reads a plugin.yaml; file is the name used in messages. The error is [Errors].
func ParseManifest(file string, data []byte) (*Manifest, error) {
	p := &problems{}
	root := readYAML(p, file, data)
	if root == nil || root.kind == nullKind {
		if len(p.errs) == 0 {
			p.fail(Pos{File: file}, "the file is empty, expected a map with the keys kind, name and command")
		}
		return nil, p.err()
	}
	manifest.check(p, root)
	if root.kind == mapKind {
		startsSomehow(p, root)
		namesFiles(p, root.get("sha256"))
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return newManifest(file, root), nil
}

func startsSomehow(p *problems, root *node) {
	switch command, module := root.get("command"), root.get("module"); {
	case command != nil && module != nil:
		p.fail(module.pos, `found both "command" and "module", expected one of them`)
	case command == nil && module == nil:
		p.fail(root.pos, `found neither "command" nor "module", expected one of them`)
	}
}

// namesFiles checks that the keys of a map of checksums name files.
func namesFiles(p *problems, sums *node) {
	if sums == nil || sums.kind != mapKind {
		return
	}
	for _, e := range sums.keys {
		if !isBelow(e.name) {
			p.fail(e.pos, "found %s, expected %s", quote(e.name), inFolder.expected)
		}
	}
}

func newManifest(file string, root *node) *Manifest {
	f := fields{root, manifest}
	m := &Manifest{Kind: f.text("kind"), Name: f.text("name"), Version: f.text("version"), Summary: f.text("summary"),
		Command: texts(root.get("command")), Module: f.text("module"), Env: texts(root.get("env")),
		SHA256: map[string]string{}, File: file, tree: root}
	for _, pattern := range texts(root.get("unpinned")) {
		m.Unpinned = append(m.Unpinned, path.Clean(pattern))
	}
	if g := root.get("grants"); g != nil {
		m.Wants = grantOf(g)
	}
	switch sums := root.get("sha256"); {
	case sums == nil:
	case sums.kind == mapKind:
		for _, e := range sums.keys {
			m.SHA256[path.Clean(e.name)] = strings.ToLower(e.value.text)
		}
	default:
		m.SHA256[""] = strings.ToLower(sums.text)
	}
	return m
}

func grantOf(n *node) Grant {
	f := fields{n, grant}
	return Grant{texts(f.at("read")), texts(f.at("write")), texts(f.at("env")), f.boolean("clock")}
}
