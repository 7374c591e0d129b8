// Package plainfile is for everybody who opens files in a folder where a person or a
// program may have put something else: the record, the host and the bundled trainables.
// It refuses what is no plain file before anything is done to it (a link leads elsewhere,
// a pipe would be waited for, a device has no end), and it makes names for files in the
// making that nobody else has.
//
// It knows nothing of experiments. Paths in which no folder may be a link either are
// opened with host/storage/nolink, which uses this package for the file itself.
package plainfile
