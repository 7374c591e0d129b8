// Command tunehost tunes hyperparameters: it runs the trials of an experiment file, shows them, and
// steers them.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/tunehost/tunehost/host"
	_ "github.com/tunehost/tunehost/host/smallheap/early"
	"github.com/tunehost/tunehost/host/validate/probe"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func main() {
	if err := host.EnoughThreads(); err != nil {
		fmt.Fprintln(os.Stderr, "tunehost:", err)
		os.Exit(2)
	}
	plugins.AdaptRuntime(os.Args[1:])
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// run is the program. Its exit status is 0 for success, 1 for a failure, 2 if the user must change
// something, 130 if it was interrupted.
func run(args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if handled, exit := started(args); handled {
		return exit
	}
	a := newApp(env, stdin, stdout, stderr)
	defer a.end()
	err := a.execute(args)
	a.explain(err)
	return exitStatus(err)
}

// started runs a program that a host has started, not a user: the probe of doctor, an agent or a
// plugin.
func started(args []string) (handled bool, exit int) {
	if value := os.Getenv(sdk.AgentVariable); len(args) > 0 && args[0] == "agent" && probe.Handles(value, args[1:]) {
		return true, probe.Main(value, host.Version(), args[1:])
	}
	return plugins.Main(args)
}
