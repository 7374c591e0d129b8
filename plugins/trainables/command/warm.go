package command

import (
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// warmCode is what a warm interpreter runs.
//
//go:embed warm.py
var warmCode string

// An endedError says that interpreters ended before they had started a trial, which may begin again.
type endedError struct{ script string }

func (e *endedError) Error() string {
	return fmt.Sprintf("warm: the interpreter of %s has ended; the log of the plugin command says more: try without "+
		"warm", e.script)
}

// Flags of python that may precede the script: those without a value, and those with one.
const (
	plainFlags  = "bBdEIOPqsSuv"
	valuedFlags = "XW"
)

// scriptAt returns the index of the script in a command such as [python3, -u, train.py].
func scriptAt(command []string) (int, error) {
	if !strings.HasPrefix(filepath.Base(command[0]), "python") {
		return 0, fmt.Errorf("warm: %s is no Python interpreter: write a command such as [python3, train.py], "+
			"or leave out warm", command[0])
	}
	for i := 1; i < len(command); i++ {
		switch flag := command[i]; {
		case !strings.HasPrefix(flag, "-"):
			return i, nil
		case len(flag) == 2 && strings.Contains(valuedFlags, flag[1:]):
			i++
		case len(flag) > 1 && (strings.Contains(valuedFlags, flag[1:2]) || strings.Trim(flag[1:], plainFlags) == ""):
		default:
			return 0, fmt.Errorf("warm: python's %s does not go with it: name a script, or leave out warm", flag)
		}
	}
	return 0, errors.New("warm: the command names no script: write [python3, train.py], or leave out warm")
}

// checkWarm says whether a command can be warm.
func (o *options) checkWarm() error {
	if !o.Warm {
		return nil
	}
	if o.Workers {
		return errors.New("warm does not go with placement.workers: leave one of them out")
	}
	at, err := scriptAt(o.Command)
	if err != nil {
		return err
	}
	if script := o.Command[at]; strings.Contains(script, "{") {
		return fmt.Errorf("warm: the script %s differs between trials: name one script, or leave out warm", script)
	}
	return warmHere()
}

// script returns the path of a trial's script.
func script(args []string, dir string) (path string, at int, err error) {
	if at, err = scriptAt(args); err != nil {
		return "", 0, err
	}
	path = args[at]
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path, at, nil
}
