package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/agent/door"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Main is the program of an agent, which an executor has started with the variables of
// [sdk.AgentVariable] and [sdk.AgentBundleVariable]. It returns the exit status: 0 when the host does not
// need the agent any longer or a signal ended it, 2 if the variables are wrong, else 1. Its output is one
// line for each event, and one for the reason of its end.
//
// The arguments are those of the command line after `agent`: none, `--socket PATH` (see package door), or
// `bridge PATH`, which is the other end of such a socket.
func Main(args []string, reaper func(mark string) *exec.Cmd, out io.Writer) (exit int) {
	if door.IsBridge(args) {
		return door.Main(args, os.Stdin, os.Stdout, out)
	}
	if text := os.Getenv(sdk.RankVariable); text != "" {
		return rankProcess(text, os.Environ())
	}
	say := func(text string) { fmt.Fprintf(out, "tunehost agent: %s\n", untrusted.Line(text, maxLine)) }
	socket, err := door.Socket(args)
	o, err2 := fromEnvironment()
	o.Socket, err = socket, cmp.Or(err2, err)
	if err != nil {
		say(err.Error())
		return 2
	}
	local.RemoveTag() // an executor of this machine may have it from the host
	o.Reaper, o.Log = reaper, say
	ctx, leaving, stop := signals(say)
	defer stop()
	o.Leaving = leaving
	switch err := Run(ctx, o); {
	case err == nil || errors.Is(err, context.Canceled):
		return 0
	default:
		say(err.Error())
		return 1
	}
}

// twice is how long a second SIGTERM counts as the first: engines send it to the script of a job and to the
// processes of the job.
const twice = 2 * time.Second

// signals handles signals. With the first SIGTERM or SIGUSR1 the engine gives notice: trials save, and the host
// lets the agent go. Another SIGTERM, SIGINT or SIGHUP ends the agent.
func signals(say func(string)) (ctx context.Context, leaving <-chan struct{}, stop func()) {
	ctx, stop = context.WithCancel(context.Background())
	heard, noticed := make(chan os.Signal, 16), make(chan struct{})
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1)
	go func() {
		var since time.Time
		for s := range heard {
			switch gentle := s == syscall.SIGTERM || s == syscall.SIGUSR1; {
			case gentle && since.IsZero():
				since = time.Now()
				say("the node is taken away soon (" + s.String() + "); the host is told")
				close(noticed)
			case s == syscall.SIGUSR1 || gentle && time.Since(since) < twice:
			default:
				stop()
			}
		}
	}()
	return ctx, noticed, stop
}

// NodeName is the name of this node for its engine, or that of the machine.
func NodeName() string {
	name, _ := os.Hostname()
	return cmp.Or(os.Getenv(sdk.AgentNodeVariable), name)
}

// maxLine bounds a line of output.
const maxLine = 4000

// fromEnvironment reads the variables of the agent, and removes them from the environment.
func fromEnvironment() (o RunOptions, err error) {
	value, bundle := os.Getenv(sdk.AgentVariable), os.Getenv(sdk.AgentBundleVariable)
	_ = os.Unsetenv(sdk.AgentVariable) // it fails only for names that are not valid
	_ = os.Unsetenv(sdk.AgentBundleVariable)
	_ = os.Unsetenv(sdk.AgentSocketVariable)
	o.Failure = os.Getenv(sdk.AgentFailureVariable)
	_ = os.Unsetenv(sdk.AgentFailureVariable)
	o.Node = NodeName()
	_ = os.Unsetenv(sdk.AgentNodeVariable)
	if o.Ticket, err = link.ParseTicket(value); err != nil {
		return o, fmt.Errorf("the value of %s is not valid: %w", sdk.AgentVariable, err)
	}
	if o.Bundle, err = strconv.Atoi(bundle); err != nil || o.Bundle < 0 {
		return o, fmt.Errorf("%s is %q; expected the index of the bundle, from 0", sdk.AgentBundleVariable, bundle)
	}
	o.Environ = os.Environ()
	return o, nil
}
