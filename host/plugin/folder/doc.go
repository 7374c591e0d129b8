// Package folder finds plugins in folders, without running any: executables,
// WebAssembly modules, and folders with a plugin.yaml that says how to start
// them. A plugin's name is that in its plugin.yaml, else its file's base name
// without the ending.
//
// [Scan] lists what is in some places, [At] looks at one path that a user
// named, and [Plugin.Check] says what of a plugin is hashed and whether it is
// what its plugin.yaml promises. Whoever can write to a folder of plugins can
// run programs as its user; so folders that others may write to, that belong to
// others, or that are symbolic links are refused.
//
// It is for the host, which starts what it finds, and the command line, which
// lists it. plugins/sdk/PROTOCOL.md describes plugin.yaml for authors.
package folder
