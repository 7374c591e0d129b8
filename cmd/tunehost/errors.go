package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/internal/lazily"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

// Exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNoAnswer    = 3
	exitInterrupted = 130
)

// usageError is a mistake of the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// asUsage turns an error of a library into one of the command line; the end of a context is none.
func asUsage(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return &usageError{err.Error()}
}

// exitError ends the program with a status; all messages are printed already.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func exitStatus(err error) int {
	var exit exitError
	var told interface{ ToldToEnd() }
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &told):
		return exitInterrupted
	case errors.As(err, &exit):
		return int(exit)
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, channel.ErrNoAnswer):
		return exitNoAnswer
	case mistake(err):
		return exitUsage
	}
	return exitFailed
}

// mistake reports whether the user must change something.
func mistake(err error) bool {
	var bad *usageError
	var user *host.UserError
	switch {
	case errors.As(err, &bad), errors.As(err, &user):
		return !errors.Is(err, journal.ErrCorrupt)
	}
	var placed *nolink.Error
	var place *storage.PlaceError
	if errors.As(err, &placed) || errors.As(err, &place) {
		return true
	}
	return fromFile(err) || errors.Is(err, runfile.ErrNone) || errors.Is(err, runfile.ErrFile) ||
		errors.Is(err, runfile.ErrUnreadable) || errors.Is(err, runfile.ErrGone) || errors.Is(err, fs.ErrNotExist) ||
		errors.Is(err, journal.ErrWrongRun) || view.Newer(err)
}

// fromFile reports whether the error has places in a file.
func fromFile(err error) bool {
	var one *config.Error
	var many config.Errors
	return errors.As(err, &one) || errors.As(err, &many)
}

// explain prints an error, one line for each mistake. Mistakes in a file begin with their place, so
// that editors find it.
func (a *app) explain(err error) {
	var exit exitError
	if err == nil || errors.As(err, &exit) {
		return
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	if gone, ok := errors.AsType[*os.SyscallError](err); ok && gone.Syscall == "getwd" {
		err = errors.New("the directory that this shell is in does not exist any more, and relative paths begin " +
			"there: change to another one (cd)")
	}
	text := strings.TrimSpace(err.Error())
	if !fromFile(err) && !placed(text) {
		text = "tunehost: " + strings.ReplaceAll(text, "\n", "; ")
	}
	fmt.Fprintln(a.err, text)
}

// placeForm matches FILE:LINE:COLUMN at the beginning of a mistake.
var placeForm = lazily.Regexp(`^[^\s:][^:]*:[0-9]+:[0-9]+: `)

// placed reports whether each line begins with a place.
func placed(text string) bool {
	for line := range strings.Lines(text) {
		if !placeForm().MatchString(line) {
			return false
		}
	}
	return true
}

// insteadOf maps commands that users may expect to existing ones.
var insteadOf = map[string]string{
	"export":    "; `tunehost trials DIR --csv` and --json print all trials",
	"dashboard": "; `tunehost serve DIR` shows experiments over HTTP",
	"clone":     "; `tunehost add DIR --clone TRIAL` adds one that starts from another's checkpoint",
	"list":      "; `tunehost ls` lists experiments, `tunehost plugins list` plugins",
	"kill":      "; `tunehost stop DIR [TRIAL]` ends running trials",
	"init":      "; the README has an example file, and `tunehost schema` describes all keys",
}

func unknownCommand(cmd *cobra.Command, name string) error {
	var known []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			known = append(known, c.Name())
		}
	}
	hint := nearest.Hint(name, known)
	if !cmd.HasParent() {
		hint = cmp.Or(insteadOf[name], hint)
	}
	if hint == "" {
		hint = "; `" + cmd.CommandPath() + " --help` lists them"
	}
	return usage("no command %q%s", name, hint)
}

// kinds describe the values of flags by type.
var kinds = map[string]string{
	"int": "a whole number", "uint": "a whole number from 0", "uint64": "a whole number from 0",
	"uint16": "a whole number from 0 to 65535", "duration": "a duration such as 30s or 5m", "bool": "true or false",
}

// flagError names the flag that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bad *pflag.InvalidValueError
	var told *usageError
	if errors.As(err, &told) {
		return told
	}
	if errors.As(err, &bad) && kinds[bad.GetFlag().Value.Type()] != "" {
		f := bad.GetFlag()
		return usage("%s: --%s: found %q, expected %s", cmd.Name(), f.Name, bad.GetValue(), kinds[f.Value.Type()])
	}
	if !errors.As(err, &unknown) {
		return usage("%s: %v", cmd.Name(), err)
	}
	name := unknown.GetSpecifiedName()
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	hint := fmt.Sprintf("; `%s --help` lists them", cmd.CommandPath())
	if n := nearest.Of(name, known); n != "" && unknown.GetSpecifiedShortnames() == "" {
		hint = fmt.Sprintf("; did you mean --%s?", n)
	}
	if cmd.Name() == "resume" && name == "set" {
		hint = "; `tunehost set DIR KEY=VALUE` changes the settings with which it is resumed"
	}
	dashes := "--"
	if unknown.GetSpecifiedShortnames() != "" {
		dashes = "-"
	}
	return usage("%s has no flag %s%s%s", cmd.Name(), dashes, name, hint)
}
