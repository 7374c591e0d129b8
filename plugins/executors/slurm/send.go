package slurm

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

//go:embed ready.sh
var readyScript string

// sent returns the path of the program that was sent to the nodes. The folder belongs to the user, and the name
// contains the checksum, so that each node gets the program once.
func sent(x *sdk.Execution) string {
	return fmt.Sprintf("/tmp/tunehost-files-%d/agent-%s", os.Getuid(), x.Agent.SHA256)
}

// programOn returns the path of the program on the nodes.
func (o *options) programOn(x *sdk.Execution) string {
	switch {
	case o.Send:
		return sent(x)
	case o.Program != "":
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

// send makes sure that a node has the program. The job there waits for it.
func (r *bridges) send(ctx context.Context, lease string, at bundlePlace) {
	for try := 1; try <= sendTries && ctx.Err() == nil; try++ {
		err := r.sendOnce(ctx, lease, at)
		if err == nil || ctx.Err() != nil {
			return
		}
		fmt.Fprintf(os.Stderr, "the program cannot be sent to the node %s: %v; try %d of %d\n", at.node, err, try,
			sendTries)
		select {
		case <-time.After(sendPause):
		case <-ctx.Done():
		}
	}
}

func (r *bridges) sendOnce(ctx context.Context, lease string, at bundlePlace) error {
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	check := readyScript + fmt.Sprintf("ready %s %s && echo have || echo need", quote(r.program), r.sum)
	out, err := r.step(ctx, at, "/bin/bash", "-c", check)
	if err != nil || strings.Contains(out, "have") {
		return err
	}
	part := fmt.Sprintf("%s.%s.part", r.program, lease)
	if _, err := r.step(ctx, at, "--bcast="+part, "--send-libs=no", r.here, "version"); err != nil {
		return err
	}
	keep := readyScript + fmt.Sprintf("ready %s %s && mv -f %[1]s %[3]s", quote(part), r.sum, quote(r.program))
	_, err = r.step(ctx, at, "/bin/bash", "-c", keep)
	return err
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
