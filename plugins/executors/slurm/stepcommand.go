package slurm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
)

func (e *steps) arguments(name string, s shape) []string {
	args := []string{nameFlag + name, "--exact", "--export=ALL", "--kill-on-bad-exit=0", "--wait=0", "--input=none",
		"--unbuffered", "--distribution=block"}
	sizes := slices.DeleteFunc(s.sizes(e.GPU), func(a string) bool { return a == "--spread-job" })
	if s.groups[0].bundle.mib == 0 && e.share > 0 {
		sizes = append(sizes, fmt.Sprintf("--mem-per-cpu=%dM", e.share))
	}
	args = append(args, sizes...)
	if !requestsGres(append(sizes, e.Args...)) {
		args = append(args, "--gres=none") // else the step takes all of the allocation's GPUs
	}
	if e.limit > 0 {
		args = append(args, "--time="+slurmTime(e.limit))
	}
	return append(append(args, e.Args...), "bash", "-c", announced+readyScript+bundleScript)
}

// gresFlags begin the arguments of srun that request generic resources.
var gresFlags = []string{"--gres=", "--gpus-per-", "--tres-per-task"}

// requestsGres reports whether one of the arguments of a step requests generic resources.
func requestsGres(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return slices.ContainsFunc(gresFlags, func(flag string) bool { return strings.HasPrefix(a, flag) })
	})
}

// nameFlag begins the argument with the name of the lease, which identifies an srun.
const nameFlag = "--job-name="

// mark begins the lines in which bundles report their places.
const mark = "tunehost-bundle"

// announced runs the setup of a bundle, and has its place reported. Its first line says that Slurm has begun the step.
var announced = "echo " + mark + ` begins
failed() { # STATUS COMMAND
  echo "` + setupFailed + `${2:+ at: $2} (exit status $1) on the node ${SLURMD_NODENAME-}" >&2
}
setup=$TUNEHOST_SETUP
unset TUNEHOST_SETUP
` + setupScript + "announce=" + mark + "\n"

// setupFailed begins the line about a setup that has failed.
const setupFailed = "the setup failed"

// variables returns the environment of the bundles of a lease.
func (e *steps) variables(r *sdk.LeaseRequest, s shape) []string {
	env := []string{"TUNEHOST_SETUP=" + e.Setup, "TUNEHOST_GPUS=" + numbers(s.gpus())}
	if e.x.Agent != nil && r.Agent != "" {
		env = append(env, sdk.AgentVariable+"="+r.Agent, "TUNEHOST_PROGRAM="+e.programOn(&e.x),
			"TUNEHOST_SUM="+e.sum(&e.x),
			"TUNEHOST_SOCKETS="+e.sockets(r.Lease))
	}
	return env
}

// allocationVariables select the allocation of a step. Slurm's other variables have the size of the job, and a
// step must not use them.
var allocationVariables = []string{"SLURM_CONF", "SLURM_CLUSTERS", "SLURM_CONF_SERVER", "SLURM_JWT", "SLURM_JOB_ID",
	"SLURM_JOBID", "SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NUM_NODES", "SLURM_NNODES",
	"SLURM_WORKING_CLUSTER", "SLURM_CLUSTER_NAME", "SLURM_JOB_PARTITION", "SLURM_NODE_ALIASES"}

func stepEnvironment(all []string) (list []string) {
	for _, v := range all {
		name, _, _ := strings.Cut(v, "=")
		own := slices.ContainsFunc(ownPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
		if !own && name != "CUDA_VISIBLE_DEVICES" || slices.Contains(allocationVariables, name) {
			list = append(list, v)
		}
	}
	return append(list, "LC_ALL=C")
}

// uniform gives all bundles the amounts of the largest one, because the tasks of a step are equal. On one node
// they share the total.
func (s shape) uniform() shape {
	if s.strategy == strictPack || len(s.groups) < 2 {
		return s
	}
	one := group{count: s.size()}
	for _, g := range s.groups {
		b := &one.bundle
		b.cpus, b.gpus, b.mib = max(b.cpus, g.bundle.cpus), max(b.gpus, g.bundle.gpus), max(b.mib, g.bundle.mib)
		b.others = cmp.Or(b.others, g.bundle.others)
	}
	return shape{s.strategy, []group{one}}
}
