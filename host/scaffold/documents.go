package scaffold

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/docs"
	"github.com/tunehost/tunehost/plugins"
)

// Document is a text for authors of plugins.
type Document struct {
	// Name is what users write, and What says in a few words what it is.
	Name, What string
	// Path is its place in the sources: a file, or a folder with several files.
	Path string
	text string
	// sdk is a folder that is written beside the document, and not printed; "": none.
	sdk string
}

// Documents returns what authors of plugins read, in the order in which to read it.
func Documents() []Document {
	return []Document{
		{"writing", "how to write a plugin: begin here", "docs/WRITING.md", docs.Writing, ""},
		{"python", "the SDK for Python, with a reporter and an executor", "plugins/sdk/python/README.md", "", ""},
		{"javascript", "the SDK for JavaScript", "plugins/sdk/js/README.md", "", ""},
		{"rust", "the SDK for Rust", "plugins/sdk/rust/README.md", "", ""},
		{"assemblyscript", "the SDK for modules in AssemblyScript", "plugins/sdk/assemblyscript/README.md", "",
			"sdk/assemblyscript"},
		{"c", "the SDK for modules in C: a header, and an example", "plugins/sdk/c/tunehost.h", "", "sdk/c"},
		{"protocol", "the protocol, for programs in other languages", "plugins/sdk/PROTOCOL.md", "", ""},
		{"proto", "its messages and services, for gRPC", "plugins/sdk/proto/tunehost/v1", "", ""},
		{"abi", "the functions of WebAssembly modules, for other languages", "plugins/sdk/abi/abi.go", "", ""},
	}
}

// DocumentOf returns the document of a name.
func DocumentOf(name string) (Document, error) {
	var names []string
	for _, d := range Documents() {
		names = append(names, d.Name)
	}
	if i := slices.Index(names, name); i >= 0 {
		return Documents()[i], nil
	}
	return Document{}, unknown("document", name, names)
}

// Each calls f with each file of the document, by its path in the sources.
func (d Document) Each(f func(file string, content []byte) error) error {
	if d.text != "" {
		return f(d.Path, linked(d.Path, []byte(d.text)))
	}
	return eachBelow(strings.TrimPrefix(d.Path, "plugins/"), f)
}

// eachBelow calls f with each file of the documents at or below a path.
func eachBelow(root string, f func(file string, content []byte) error) error {
	return fs.WalkDir(plugins.Documents, root, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := fs.ReadFile(plugins.Documents, file)
		if err != nil {
			return err
		}
		return f("plugins/"+file, linked("plugins/"+file, content))
	})
}

// sources is where what no document has can be read.
const sources = "https://github.com/tunehost/tunehost/blob/main/"

// link is a link of Markdown to another file of the sources, with the place in it.
var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// linked returns a file of a document whose links to what no document has lead to the sources on the web.
func linked(file string, content []byte) []byte {
	if path.Ext(file) != ".md" {
		return content
	}
	return link.ReplaceAllFunc(content, func(found []byte) []byte {
		m := link.FindSubmatch(found)
		to := path.Join(path.Dir(file), string(m[1]))
		_, err := fs.Stat(plugins.Documents, strings.TrimPrefix(to, "plugins/"))
		if err == nil || to == "docs/WRITING.md" {
			return found
		}
		return fmt.Appendf(nil, "](%s%s%s)", sources, to, m[2])
	})
}

// WriteTo writes the document below a folder, where links of others lead to it. A file that is there already stays.
func (d Document) WriteTo(dir string) error {
	write := func(file string, content []byte) error {
		file = filepath.Join(dir, filepath.FromSlash(file))
		if _, err := os.Lstat(file); err == nil {
			return fmt.Errorf("%s exists: name a folder without it", file)
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, content, 0o644)
	}
	if d.sdk != "" {
		return eachBelow(d.sdk, write) // the document is among it
	}
	return d.Each(write)
}
