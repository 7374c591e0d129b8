// Package nolink opens, makes and removes files by paths without links. A link in a folder that others
// can write to could redirect the host's writes, or show files of its user. All code of the host that
// touches a file of an experiment uses this package. It opens files without waiting, and only plain
// files: a pipe would block, and a device has no end.
//
// Paths are absolute, and have no links above the experiment either; storage.At resolves those. On
// Linux the kernel refuses links while it resolves a path. Elsewhere each element is checked before it
// is opened, which suffices where nobody else can write.
//
// A file that a user names (an experiment file, a checkpoint to start from) may be behind links, and
// is opened with package os.
package nolink
