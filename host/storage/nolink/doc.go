// Package nolink opens, makes and removes files by paths in which no element may be a
// link: whoever can write to a folder could otherwise lead its owner's writes, and what
// is shown of its files, to any file of his. Every room of the host that touches a file
// of an experiment does so through this package. Files are opened without waiting, and
// must be plain files: a pipe would hold up whoever opens it, a device has no end.
//
// Paths are absolute and have no links above the experiment either, as those of
// storage.At have not. On Linux the kernel refuses links as it looks a path up; elsewhere
// each element is looked at before, which suffices where nobody else can write.
//
// What a user names by himself (an experiment file, a checkpoint to start from) may be
// behind links, and is opened with package os.
package nolink
