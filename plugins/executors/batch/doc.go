// Package batch is an executor for any batch system that has commands to submit a job, to ask
// what has become of it, and to cancel it: PBS, LSF, Grid Engine, HTCondor, Flux, and others by
// templates. A lease is a job. docs/BATCH.md is its guide.
//
// The executor keeps a folder in the experiment's directory. It records there which job belongs
// to which lease, before and after each submit, so that a job is submitted once, whatever
// crashed. The job's script is there too. It has the secret of the lease's agents, so that only
// its owner may read it, and is removed when the lease ends.
//
// Three things keep a second job of a lease, unknown to the executor, from doing
// anything: the job is found by its name, if the batch system can list jobs (option list); a
// script that finds that another job has begun for its lease, or that its lease has ended, exits
// at once, if the nodes see the experiment's directory; and the host accepts one agent for each
// bundle.
package batch
