package slurm

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// handed are the variables of the host's environment that a job gets, in addition to some of Slurm's. Its login
// shell sets all others.
var handed = []string{"HOME", "USER", "LOGNAME", "SHELL"}

// usualPath is the PATH until the login shell sets one.
const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// export is the argument of sbatch that passes its environment, jobEnvironment, to jobs. With any other
// --export, slurmd logs in as the user before each job. That takes as long again as the login shell of the
// script, and a job whose login takes too long is held.
const export = "--export=ALL"

// submitter returns the environment of sbatch. If the user sets --export, jobs can get all
// variables.
func (e *executor) submitter() *slurm {
	if slices.ContainsFunc(e.Args, func(a string) bool { return strings.HasPrefix(a, "--export") }) {
		return e.slurm
	}
	return &slurm{timeout: e.slurm.timeout, environ: jobEnvironment(e.slurm.environ)}
}

// jobEnvironment returns the part of the environment of commands that a job gets. The PATH has Slurm's
// commands, because the script of a group needs them.
func jobEnvironment(all []string) []string {
	path := usualPath
	if sbatch, err := exec.LookPath("sbatch"); err == nil {
		path += string(os.PathListSeparator) + filepath.Dir(sbatch)
	}
	list := []string{"PATH=" + path}
	for _, v := range all {
		name, _, _ := strings.Cut(v, "=")
		if slices.Contains(handed, name) || slices.Contains(kept, name) {
			list = append(list, v)
		}
	}
	return list
}
