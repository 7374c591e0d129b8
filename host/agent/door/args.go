package door

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// The words of the command line of an agent, after `agent`: `--socket PATH`, or `bridge PATH`.
const (
	flag   = "--socket"
	bridge = "bridge"
)

// IsBridge reports whether arguments of an agent ask for a bridge. They do so whatever the environment is, which
// a bridge may have from an agent.
func IsBridge(args []string) bool { return len(args) > 0 && args[0] == bridge }

// Socket returns the socket that arguments of an agent ask for, or the variable of the environment; "": none.
func Socket(args []string) (path string, err error) {
	switch {
	case len(args) == 0:
		return os.Getenv(sdk.AgentSocketVariable), nil
	case len(args) == 2 && args[0] == flag && args[1] != "":
		return args[1], nil
	case len(args) == 1 && strings.HasPrefix(args[0], flag+"=") && len(args[0]) > len(flag+"="):
		return strings.TrimPrefix(args[0], flag+"="), nil
	case len(args) <= 2 && args[0] == flag, len(args) == 1 && args[0] == flag+"=":
		return "", errors.New(flag + " has no value: expected the absolute PATH of a socket")
	}
	return "", errors.New("the arguments of an agent are: agent [" + flag + " PATH], or: agent " + bridge + " PATH")
}

const help = `Join the standard input and output with the unix socket of an agent, byte for byte.
Executors whose nodes cannot connect to the host run this beside an agent that
listens with --socket. It waits a minute for the socket, and ends when its input
or the connection ends.

Usage:
  tunehost agent bridge [PATH]

Without PATH it takes that of the environment variable TUNEHOST_AGENT_SOCKET, which no
other user can read.
`

// Main is the program of a bridge, with the arguments of an agent. It returns the exit status.
func Main(args []string, in io.Reader, out, errs io.Writer) (exit int) {
	path, err := bridgePath(args[1:])
	switch {
	case errors.Is(err, errHelp):
		fmt.Fprint(out, help)
		return 0
	case err != nil:
		fmt.Fprintf(errs, "tunehost agent %s: %v\n", bridge, err)
		return 2
	}
	ctx, stop := undisturbed()
	defer stop()
	if err := carry(ctx, context.Background(), path, in, out); err != nil {
		fmt.Fprintf(errs, "tunehost agent %s: %v\n", bridge, err)
		return 1
	}
	return 0
}

var errHelp = errors.New("help is wanted")

// bridgePath returns the socket that arguments of a bridge ask for.
func bridgePath(args []string) (string, error) {
	switch {
	case len(args) == 1 && (args[0] == "--help" || args[0] == "-h"):
		return "", errHelp
	case len(args) == 1 && strings.HasPrefix(args[0], "-"):
		return "", fmt.Errorf("there is no flag %q; expected the PATH of a socket", args[0])
	case len(args) == 0 && os.Getenv(sdk.AgentSocketVariable) != "":
		args = []string{os.Getenv(sdk.AgentSocketVariable)}
	case len(args) != 1:
		return "", fmt.Errorf("expected the PATH of a socket, not %d arguments", len(args))
	}
	return args[0], checkPath(args[0])
}

// undisturbed returns a context that ends with a signal that asks to end: a bridge that waits for its agent ends
// then. One that has reached it does not, because engines signal all processes of a job to give notice: the agent
// tells the host of it through the bridge, which ends with the agent.
func undisturbed() (waiting context.Context, stop func()) {
	signal.Ignore(syscall.SIGUSR1, syscall.SIGUSR2)
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}
