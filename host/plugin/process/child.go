package process

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// Machine starts processes: this one ([Here]), or another one through its agent.
type Machine interface {
	// Spawn starts a process. An error says why the system does not start it, see [Reason]. If the
	// context ends first, nothing is started.
	Spawn(ctx context.Context, s Spec) (Child, error)
}

// Spec is a process to start.
type Spec struct {
	Program
	// Handshake are the variables of the plugin protocol, as NAME=VALUE.
	Handshake []string
	// Sockets is the folder below which the process must listen. A machine with files of its own uses
	// a folder of its own.
	Sockets string
}

// Child is a process that was started, with the group that it leads. Any goroutine may call its methods, also while
// Attend runs.
type Child interface {
	// PID returns its id on its machine.
	PID() int
	// Attend must be called once. It writes what the process prints, each stream in order and by one goroutine at a
	// time, and closes the writers. What they do not take is lost. It returns when the process and its group are gone
	// and their output is written. Processes that have left the group may hold the output open: it waits for them
	// only for a moment.
	Attend(stdout, stderr io.WriteCloser) Exit
	// Signal sends a signal to the group. After the end of the process it does nothing.
	Signal(s syscall.Signal)
	// Kill kills the group at once. After the end of the process it does nothing.
	Kill()
	// Dial connects to the socket that the process has announced. A *RefusedError means that the
	// address can never be used.
	Dial(ctx context.Context, socket string) (net.Conn, error)
}

// Exit is how a process ended.
type Exit struct {
	Code   int            // 0 to 255
	Signal syscall.Signal // that ended it; 0: none
	// Unreachable, if not "", says why the end of the process is not known: its machine cannot be reached.
	Unreachable string
}

func exitOf(s *os.ProcessState) Exit {
	if signal, ok := endSignal(s); ok {
		return Exit{Signal: signal}
	}
	return Exit{Code: s.ExitCode()}
}

// String returns the end in words: "exited with status 3".
func (e Exit) String() string {
	switch {
	case e.Unreachable != "":
		return "was lost with its node: " + e.Unreachable
	case e.Signal != 0:
		return fmt.Sprintf("was ended by signal %d (%v)", int(e.Signal), e.Signal)
	}
	return fmt.Sprintf("exited with status %d", e.Code)
}

// RefusedError says that what a plugin has announced cannot be used.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

// UnreachableError says that a machine cannot be reached, or that the connection to it was lost.
type UnreachableError struct{ Why string }

func (e *UnreachableError) Error() string { return e.Why }

// UnstartedError says why a process was not started, in words for the user.
type UnstartedError struct {
	What string
	Err  error // the system's, if it is one
}

func (e *UnstartedError) Error() string { return e.What }

// Unwrap returns the system's error.
func (e *UnstartedError) Unwrap() error { return e.Err }
