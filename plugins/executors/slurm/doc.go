// Package slurm is an executor that takes its leases from a Slurm cluster. It drives the
// programs sbatch, squeue, scontrol, scancel and sinfo with output formats of its own, because
// their JSON changes from release to release.
//
// A lease is a job with the name of the lease; a lease with bundles that differ is a
// heterogeneous job. The job's script starts the agent on each bundle. So a lease is found
// again by its name after a crash: a job is submitted only if a listing shows none of that name
// and no answer to an earlier submission is outstanding; where two appear nevertheless, one is cancelled.
//
// Leases of one bundle that ask for the same are submitted together, as the tasks of a job array. A
// lease is then a task, and the name of the array and the index of the task say which: the task 123_17
// of the array th-x-1000+ is th-x-1017. All that is said of jobs holds for tasks. The script has the
// values of all leases of the array.
//
// One squeue every few seconds covers all leases; scontrol tells the GPUs of a job, once. A
// listing counts only if it is complete and well-formed. A job that is missing from it is lost
// only if scontrol says that it does not exist.
//
// Inside of an allocation (SLURM_JOB_ID is set) the allocation is the pool: a lease is a job
// step with the name of the lease.
package slurm
