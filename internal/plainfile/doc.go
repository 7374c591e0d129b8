// Package plainfile opens files in folders in which a person or a program may have put something
// else: it is used for the record, by the host and by the bundled trainables. It refuses anything
// but a regular file before it is used (a link leads elsewhere, a pipe would block, a device has no
// end), and it generates unique names for temporary files.
//
// It does not depend on experiments. Paths in which folders must not be links either are opened
// with host/storage/nolink, which uses this package for the file itself.
package plainfile
