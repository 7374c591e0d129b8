package slurm

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tunehost/tunehost/internal/lazily"
	"github.com/tunehost/tunehost/plugins/sdk"
)

//go:embed ready.sh
var readyScript string

// programOn returns the path of the program on the nodes. If it is sent, they find it by its checksum.
func (o *options) programOn(x *sdk.Execution) string {
	if o.Program != "" {
		return o.Program
	}
	return x.Agent.Path
}

// sum returns the checksum of a program that is sent; "": it is not sent.
func (o *options) sum(x *sdk.Execution) string {
	if o.Send {
		return x.Agent.SHA256
	}
	return ""
}

// The times of sending.
const (
	sendTries  = 5
	sendWithin = 5 * time.Minute
	sendPause  = 2 * time.Second
)

// send makes sure that a node has the program. The job there waits for it; if it cannot be sent, the lease is no use.
func (r *bridges) send(ctx context.Context, lease string, at bundlePlace) {
	for try := 1; ; try++ {
		folder, err := r.sendOnce(ctx, lease, at)
		if err == nil || ctx.Err() != nil {
			return
		}
		why := fmt.Sprintf("the program cannot be sent to the folder %s of the node %s: %v", folder, at.node, err)
		if try == sendTries {
			r.unsent(lease, why+fmt.Sprintf("; make room there, or keep jobs off that node (args: [--exclude=%s]); or "+
				"put tunehost where all nodes see it, and name its path there with program, without send", at.node))
			return
		}
		fmt.Fprintf(os.Stderr, "%s; try %d of %d\n", why, try, sendTries)
		select {
		case <-time.After(r.pause):
		case <-ctx.Done():
			return
		}
	}
}

// sendOnce sends the program to a folder of a node, unless that has it.
func (r *bridges) sendOnce(ctx context.Context, lease string, at bundlePlace) (folder string, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	out, err := r.shortStep(ctx, at, onNode("ready "+r.sum+` && echo have || echo "need $folder"`)...)
	if err != nil {
		return anyFolder, err
	}
	folder, err = missing(out)
	if err != nil || folder == "" {
		return anyFolder, err
	}
	part := fmt.Sprintf("%s/agent-%s.%s.part", folder, r.sum, lease)
	_, sending := r.step(ctx, at, "--bcast="+part, "--send-libs=no", r.here, "version")
	_, err = r.shortStep(ctx, at, onNode("keep "+quote(part)+" "+r.sum)...)
	if err != nil { // else it is there, even if the sent file itself could not be run
		err = cmp.Or(sending, err)
	}
	return folder, err
}

// anyFolder is where the folders of nodes are, see ready.sh.
const anyFolder = "/tmp"

// onNode returns a command that runs on a node, with the functions of ready.sh. It takes further arguments.
func onNode(command string) []string {
	return []string{"/bin/bash", "-c", readyScript + command, "bash"}
}

// sendFolder is a folder of a node to which the program is sent.
var sendFolder = lazily.Regexp(`^/tmp/tunehost-files-[0-9]+(-[A-Za-z0-9]+)?$`)

// missing returns the folder of a node that needs the program; "": the node has it.
func missing(said string) (folder string, err error) {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if line == "have" {
			return "", nil
		}
		if folder, ok := strings.CutPrefix(line, "need "); ok && sendFolder().MatchString(folder) {
			return folder, nil
		}
	}
	return "", fmt.Errorf("it has no folder for the program; it says: %q", shortened(said))
}

// shortStep runs a command that only looks at a node, or moves a file there. It has as long as other commands of Slurm:
// one that hangs is tried again while the job still waits for the program.
func (r *bridges) shortStep(ctx context.Context, at bundlePlace, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.within)
	defer cancel()
	out, err := r.step(ctx, at, args...)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("srun did not end within %v", r.within)
	}
	return out, err
}

// step runs a command beside the agent.
func (r *bridges) step(ctx context.Context, at bundlePlace, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "srun", append(at.arguments(noVariable), args...)...)
	cmd.Env, cmd.WaitDelay = r.environ, time.Second
	var errs limited
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if said := words(errs.String()); err != nil && said != "" {
		return "", fmt.Errorf("%s: %s", filepath.Base(cmd.Path), said)
	}
	return string(out), err
}
