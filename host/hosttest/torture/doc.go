// Package torture runs real experiments with the real command and real plugins, and injects
// the faults of real systems: it kills the host, plugins, trials
// and whole process groups, freezes and interrupts them, fills the disk, takes
// permissions and the record away. Afterwards it compares the record with
// separate logs that the trainables wrote.
//
// `go test` tests each fault separately; `make torture` injects all of them at random
// moments, for any length of time. `make chaos-slurm` does the same to hosts on a Slurm of eight
// nodes, and to the cluster.
package torture
