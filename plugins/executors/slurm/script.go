package slurm

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
)

//go:embed job.sh
var jobScript string

//go:embed setup.sh
var setupScript string

//go:embed bundle.sh
var bundleText string

// bundleScript starts the agent of a bundle.
var bundleScript = strings.ReplaceAll(bundleText, "@ABSENT@", absent)

// absent is the exit status by which a script says that the program is not on its node. No program and no login file
// of a user is likely to have it, other than 127.
const absent = "113"

// logDir is the folder for the output of jobs, in the experiment's directory. It is used where nodes
// have that directory.
const logDir = ".slurm"

func logPath(dir, lease string) string { return filepath.Join(dir, logDir, lease+".log") }

// agent is the program that runs on each bundle.
type agent struct {
	path    string // on the nodes; "": none
	value   string // of TUNEHOST_AGENT: secret
	sum     string // of a program that is sent; "": it is there
	sockets string // see options.sockets
}

// values returns what the script of a job has of its lease.
func values(dir string, name string, s shape, a agent) string {
	text := fmt.Sprintf("lease=%s\nlog=%s\nagent=%s\ngpus=%s\nbundles=%d\nsockets=%s\nsum=%s\n", quote(name),
		quote(logPath(dir, name)), quote(a.path), quote(numbers(s.gpus())), s.size(),
		quote(a.sockets), a.sum)
	if a.path != "" {
		text += "export TUNEHOST_AGENT=" + quote(a.value) + "\n"
	}
	return text
}

// script returns the script of a job with the values of its lease, or of the leases of its tasks. sbatch reads it from
// its standard input, and only the user can read Slurm's copy, so the script may contain secrets.
func script(o *options, values string, s shape) string {
	return strings.NewReplacer("@VALUES@", values, "@READY@", readyScript,
		"@BUNDLE@", quote(readyScript+bundleScript), "@TASKS@", s.tasks(),
		"@SETUP@", quote(o.Setup), "@RUN@", setupScript, "@ABSENT@", absent).Replace(jobScript)
}

// tasks returns the arguments of the srun that starts all bundles, in their order.
func (s shape) tasks() string {
	all := s.components()
	parts := make([]string, len(all))
	for i, c := range all {
		cpus := 0
		for _, g := range c.groups {
			cpus = max(cpus, g.bundle.cpus)
		}
		parts[i] = fmt.Sprintf("--ntasks=%d --cpus-per-task=%d --distribution=block --export=ALL --kill-on-bad-exit=0 "+
			"--wait=0 --input=none", c.size(), cpus)
		if len(all) > 1 {
			parts[i] = fmt.Sprintf("--het-group=%d ", i) + parts[i]
		}
		parts[i] += ` bash -c "$each"`
	}
	return strings.Join(parts, " : ")
}

func numbers(list []int) string {
	return strings.Trim(fmt.Sprint(list), "[]")
}

// quote quotes a text for bash.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
