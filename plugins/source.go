// Package plugins holds the sources of the SDKs, for `tunehost plugins new`: a new
// plugin is given a copy of its SDK, so that it can be built without any package
// being published or downloaded for it. It is for package scaffold; authors import
// plugins/sdk.
package plugins

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed sdk/*.go sdk/abi/*.go sdk/option/*.go sdk/channel/*.go sdk/guard/*.go sdk/guest/*.go sdk/bridge/*.go
//go:embed sdk/proto/tunehost/v1/*.go sdk/quick/*.go
//go:embed sdk/sdktest/*.go sdk/serve/*.go sdk/serve/*.s sdk/service/*.go sdk/space/*.go sdk/train/*.go sdk/wire/*.go
var goSDK embed.FS

//go:embed sdk/python/pyproject.toml sdk/python/tunehost/*.py sdk/python/tunehost/py.typed
//go:embed sdk/python/tunehost/_proto/*.py sdk/python/tunehost/_proto/*.pyi
//go:embed sdk/python/tunehost/integrations/*.py sdk/python/tunehost/tune/*.py sdk/python/tunehost/tune/*/*.py
var pythonSDK embed.FS

//go:embed sdk/rust/Cargo.toml sdk/rust/src sdk/rust/testdata/probe.rs
var rustSDK embed.FS

//go:embed sdk/js/package.json sdk/js/proto sdk/js/src sdk/js/types
var jsSDK embed.FS

// Source is an SDK's source.
type Source struct {
	files fs.FS
	// root is its folder in files, and to its folder in a copy.
	root, to string
	// skip are files that are embedded with others; nil: none.
	skip func(file string) bool
}

var sources = map[string]Source{
	"go":     {goSDK, "sdk", "plugins/sdk", func(file string) bool { return strings.HasSuffix(file, "_test.go") }},
	"python": {pythonSDK, "sdk/python", "", nil},
	// Cargo.toml names an example, and Cargo checks that it exists.
	"rust":       {rustSDK, "sdk/rust", "", nil},
	"javascript": {jsSDK, "sdk/js", "", nil},
}

// SDK returns the source of the SDK of a language; ok is false if there is none.
func SDK(language string) (s Source, ok bool) {
	s, ok = sources[language]
	return s, ok
}

// Each calls f with every file, by its path in a copy of the SDK.
func (s Source) Each(f func(file string, content []byte) error) error {
	return fs.WalkDir(s.files, s.root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || s.skip != nil && s.skip(file) {
			return err
		}
		content, err := fs.ReadFile(s.files, file)
		if err != nil {
			return err
		}
		return f(path.Join(s.to, strings.TrimPrefix(strings.TrimPrefix(file, s.root), "/")), content)
	})
}
