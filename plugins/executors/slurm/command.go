package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// maxOutput limits the part of a command's output that is kept: 1,000,000 jobs of 64 bytes.
const maxOutput = 64 << 20

// slurm runs the commands.
type slurm struct {
	timeout time.Duration
	environ []string
}

func newSlurm(timeout time.Duration) *slurm {
	return &slurm{timeout: timeout, environ: environment(os.Environ())}
}

// kept are the variables of Slurm that select the cluster, or set defaults of the user's jobs.
var kept = []string{"SLURM_CONF", "SLURM_CLUSTERS", "SLURM_CONF_SERVER", "SLURM_JWT", "SBATCH_ACCOUNT",
	"SBATCH_CLUSTERS", "SBATCH_CONSTRAINT", "SBATCH_PARTITION", "SBATCH_QOS", "SBATCH_RESERVATION", "SBATCH_TIMELIMIT",
	"SBATCH_CLUSTER_CONSTRAINT", "SBATCH_WCKEY"}

// ownPrefixes begin variables of the host and of Slurm: filters of squeue, sizes of the job in which the host
// runs, an array or --wait as the default of sbatch.
var ownPrefixes = []string{"SLURM_", "SBATCH_", "SALLOC_", "SRUN_", "SQUEUE_", "SINFO_", "SCONTROL_", "SCANCEL_",
	"TUNEHOST_"}

// environment returns the environment of commands: times are seconds since 1970, and messages
// English.
func environment(all []string) (list []string) {
	for _, v := range all {
		name, _, _ := strings.Cut(v, "=")
		own := slices.ContainsFunc(ownPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
		if !own || slices.Contains(kept, name) {
			list = append(list, v)
		}
	}
	return append(list, "SLURM_TIME_FORMAT=%s", "LC_ALL=C")
}

// failure is a command that failed.
type failure struct {
	name string
	// words has its output on stderr, on one line.
	words string
	err   error
	// late: it was killed, or never began, so its effect is unknown.
	late bool
}

func (f *failure) Error() string {
	if f.words != "" {
		return f.words
	}
	return fmt.Sprintf("%s: %v", f.name, f.err)
}

func (f *failure) Unwrap() error { return f.err }

// run runs a command and returns its output.
func (s *slurm) run(ctx context.Context, stdin, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Stdin = s.environ, strings.NewReader(stdin)
	var out, errs limited
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second // a child may hold the output open
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", &failure{name: name, err: fmt.Errorf("killed after %v without an answer", s.timeout), late: true}
	case errors.Is(err, exec.ErrNotFound):
		return "", &failure{name: name, err: errors.New("not installed on this machine; run tunehost where it is")}
	case err != nil:
		return out.String(), &failure{name: name, words: words(errs.String()), err: err, late: !exited(err)}
	case out.full:
		return "", &failure{name: name, err: errors.New("printed more than it should")}
	}
	return out.String(), nil
}

// exited reports whether a command ended by itself.
func exited(err error) bool {
	e, ok := errors.AsType[*exec.ExitError](err)
	return ok && e.Exited()
}

// limited keeps the beginning of the output.
type limited struct {
	bytes.Buffer
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxOutput {
		l.full = true
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

// words makes one line of a command's output.
func words(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "Try \"") &&
			!slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}
