package config

import "slices"

// formats are the names of reporters that are files of the host.
var formats = []string{"jsonl", "csv"}

// Formats are the names under reporters of the files that the host writes itself.
func Formats() []string { return slices.Clone(formats) }

// IsFormat reports whether a reporter is one of the files that the host writes itself.
func IsFormat(ref PluginRef) bool { return slices.Contains(formats, ref.Name) && !ref.IsPath() }
