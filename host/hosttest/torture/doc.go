// Package torture runs real experiments with the real command and real plugins,
// and does to them what happens to programs: it kills the host, plugins, trials
// and whole process groups, freezes and interrupts them, fills the disk, takes
// permissions and the record itself away. Afterwards it compares the record with
// what the trainables wrote to a log of their own.
//
// All of it is tests: each fault by itself in `go test`, all of them at random
// moments, for as long as one likes, in `make torture`.
package torture
