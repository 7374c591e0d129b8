// Package shelltext checks the syntax of lines of a shell that run on another machine, where a mistake would be found
// only after resources have been waited for.
package shelltext

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"
)

// patience limits how long a shell may read a text.
const patience = 10 * time.Second

// Bash is the command by which bash reads patterns such as !(a), too, which a text may allow itself only when it runs.
var Bash = []string{"bash", "-O", "extglob", "-n"}

// Mistake returns in one line what is wrong with a text if each of these commands finds a mistake in it, in the words
// of the first; otherwise "". A shell that this machine does not have finds none.
func Mistake(text string, shells ...[]string) (mistake string) {
	for i, command := range shells {
		said := read(text, command)
		if said == "" {
			return ""
		}
		if i == 0 {
			mistake = said
		}
	}
	return mistake
}

// read has a shell read a text without running it.
func read(text string, command []string) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env, cmd.Stdin = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}, strings.NewReader(text)
	var said bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &said, time.Second
	err := cmd.Run()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if failed && !exit.Exited() || !failed && !strings.Contains(said.String(), "here-document") {
		return ""
	}
	return first(said.String())
}

// first returns the first line of what a shell says, without its own name.
func first(said string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if _, rest, ok := strings.Cut(line, ": "); ok {
		return rest
	}
	return line
}
