package plugins

import "embed"

// Documents are the texts for authors of plugins, by their path in this folder, and the SDK for AssemblyScript, which
// no registry has.
//
//go:embed sdk/PROTOCOL.md sdk/python/README.md sdk/js/README.md sdk/rust/README.md
//go:embed sdk/assemblyscript/README.md sdk/assemblyscript/package.json sdk/assemblyscript/assembly/*.ts
//go:embed sdk/c/tunehost.h sdk/c/dice.c sdk/abi/abi.go sdk/proto/tunehost/v1/*.proto
var Documents embed.FS
