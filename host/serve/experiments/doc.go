// Package experiments keeps the experiments that a server shows: each is opened when it is asked for, its
// record is read once for all readers, and it is closed when nobody has asked for a while.
package experiments
