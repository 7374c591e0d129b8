// Package folder finds plugins in folders, without running any: executables, WebAssembly modules, and
// folders with a plugin.yaml that says how to start them. The name of a plugin is in its plugin.yaml;
// else it is its file's base name without the ending.
//
// [Scan] lists the content of places, [At] looks at one path that a user named, and [Plugin.Check]
// hashes a plugin and compares it with its plugin.yaml. A user who can write to a folder of plugins
// can run programs as its owner. Therefore folders that others may write to, that belong to others, or
// that are symbolic links are refused.
//
// It is for the host, which starts plugins, and the command line, which lists them.
// plugins/sdk/PROTOCOL.md describes plugin.yaml for authors.
package folder
