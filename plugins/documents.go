package plugins

import "embed"

// Documents are the texts for authors of plugins, by their path in this folder.
//
//go:embed sdk/PROTOCOL.md sdk/python/README.md sdk/js/README.md sdk/rust/README.md sdk/assemblyscript/README.md
//go:embed sdk/c/tunehost.h sdk/proto/tunehost/v1/*.proto
var Documents embed.FS
