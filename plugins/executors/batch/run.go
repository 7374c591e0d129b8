package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// output is the output of a command, and how it ended.
type output struct {
	words  []string
	out    string
	err    string
	status int // 0: it succeeded; -1: it was killed
}

// all is everything that it printed, without empty lines around it.
func (o *output) all() string {
	return strings.Trim(strings.TrimRight(o.out, "\n")+"\n"+o.err, "\n")
}

// blank reports whether it printed nothing.
func (o *output) blank() bool { return strings.TrimSpace(o.all()) == "" }

// maxOutput limits the part of a command's output that is kept, and maxSaid the part that messages
// quote.
const (
	maxOutput = 4 << 20
	maxSaid   = 200
)

// said returns the first line of a command's output, on stderr first.
func (o *output) said() string {
	for _, text := range []string{o.err, o.out} {
		for line := range strings.Lines(text) {
			if line = oneLine(line); line != "" {
				return line
			}
		}
	}
	return "it printed nothing"
}

// oneLine returns a text for a message: one line that is not too long.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if runes := []rune(text); len(runes) > maxSaid {
		text = string(runes[:maxSaid]) + "…"
	}
	return text
}

// lastOf is like oneLine, but keeps the end of a long text.
func lastOf(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if runes := []rune(text); len(runes) > maxSaid {
		text = "…" + string(runes[len(runes)-maxSaid:])
	}
	return text
}

// failed returns the error for a command with useless output.
func (o *output) failed(why string) error {
	return fmt.Errorf("%s %s: %s", o.words[0], why, o.said())
}

// exited returns how a command ended.
func (o *output) exited() string {
	switch {
	case o.status == 0:
		return "printed something else than expected"
	case o.status < 0:
		return "was killed"
	}
	return fmt.Sprintf("exited with status %d", o.status)
}

// capped is a buffer that drops bytes beyond its limit.
type capped struct{ bytes.Buffer }

func (c *capped) Write(text []byte) (int, error) {
	_, _ = c.Buffer.Write(text[:min(len(text), max(0, maxOutput-c.Len()))])
	return len(text), nil
}

// killWait is how long a killed command may hold its output open.
const killWait = time.Second

// run runs a command in the folder, with a time limit. The error says that it could not be started,
// or did not end. Any exit status is an output.
func (p *plan) run(ctx context.Context, dir string, words []string) (*output, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var out, errs capped
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, p.environ(), &out, &errs, killWait
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	o := &output{words: words, out: out.String(), err: errs.String()}
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("%s did not end within %v (option timeout)", words[0], p.timeout)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", words[0], ctx.Err())
	case errors.As(err, &exit):
		o.status = exit.ExitCode()
	case errors.Is(err, exec.ErrWaitDelay): // a child of it continues, and holds its output
	case err != nil:
		return nil, fmt.Errorf("%s cannot be run: %w", words[0], err)
	}
	return o, nil
}

// visible are the variables of the host that commands see, and prefixes those of batch systems. A
// batch system may copy them into jobs: no secret of the user gets there by accident.
var (
	visible = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
		"LD_LIBRARY_PATH", "KRB5CCNAME", "MUNGE_SOCKET"}
	prefixes = []string{"PBS_", "TORQUE_", "LSF_", "LSB_", "EGO_", "SGE_", "CONDOR_", "_CONDOR_", "FLUX_", "SLURM_CONF",
		"MODULE"}
)

// environ returns the environment of commands.
func (p *plan) environ() (env []string) {
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		known := slices.Contains(visible, name) || slices.Contains(p.env, name) ||
			slices.ContainsFunc(prefixes, func(x string) bool { return strings.HasPrefix(name, x) })
		if known {
			env = append(env, e)
		}
	}
	return env
}
