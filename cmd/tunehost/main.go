// Command tunehost tunes hyperparameters: it runs the trials of an experiment
// file, and shows and steers what runs.
package main

import (
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)) }

// run is the program. Its exit status is 0 when all is well, 1 when something
// failed, 2 when the user must change something, 130 when it was interrupted.
func run(args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if handled, exit := plugins.Main(args); handled {
		return exit
	}
	a := newApp(env, stdin, stdout, stderr)
	err := a.execute(args)
	a.explain(err)
	return exitStatus(err)
}
