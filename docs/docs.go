// Package docs has the document for authors of plugins, which the program prints.
package docs

import _ "embed"

// Writing is WRITING.md.
//
//go:embed WRITING.md
var Writing string
