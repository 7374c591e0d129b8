// Package spawn starts hosts as processes of their own, which continue when the server ends.
package spawn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/usererror"
)

// patience is how long a host may take until it has its experiment.
const patience = time.Minute

// looks is how often the server looks whether a host has its experiment.
const looks = 20 * time.Millisecond

// Host starts a host of this program with arguments and a text on its standard input, and waits until it has
// one of the experiments that dirs returns. It returns the directory. An error has what the host has printed.
func Host(ctx context.Context, args []string, text []byte, dirs func() ([]string, error)) (string, error) {
	out, err := os.CreateTemp("", "tunehost-host-*")
	if err != nil {
		return "", err
	}
	defer out.Close()
	if err := os.Remove(out.Name()); err != nil {
		return "", err
	}
	cmd, err := start(args, text, out)
	if err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return await(ctx, cmd.Process.Pid, ended, out, dirs)
}

// start starts the host in a session of its own, so that signals to the server do not reach it.
func start(args []string, text []byte, out *os.File) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	in, err := os.CreateTemp("", "tunehost-file-*")
	if err != nil {
		return nil, err
	}
	defer in.Close()
	_, err = in.Write(text)
	if err = errors.Join(err, os.Remove(in.Name())); err == nil {
		_, err = in.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, cmd.Start()
}

func await(ctx context.Context, pid int, ended <-chan error, out *os.File, dirs func() ([]string, error)) (string,
	error) {
	deadline := time.After(patience)
	for {
		dir, err := held(pid, dirs)
		if err != nil || dir != "" {
			return dir, err
		}
		select {
		case err := <-ended:
			return "", failure(err, out)
		case <-deadline:
			return "", fmt.Errorf("the host (process %d) has not begun its experiment within %v", pid, patience)
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(looks):
		}
	}
}

// held returns the experiment that a process has.
func held(pid int, dirs func() ([]string, error)) (string, error) {
	list, err := dirs()
	if err != nil {
		return "", err
	}
	for _, dir := range list {
		if h, err := journal.Holder(dir); err == nil && h != nil && h.PID == pid {
			return dir, nil
		}
	}
	return "", nil
}

// failure is what a host has printed that has ended before it had an experiment.
func failure(err error, out *os.File) error {
	text, _ := io.ReadAll(io.NewSectionReader(out, 0, untrusted.MaxText))
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return fmt.Errorf("the host has ended without an experiment (%v)", err)
	}
	lines := strings.ReplaceAll(strings.TrimPrefix(string(text), "tunehost: "), "\n", "; ")
	return usererror.Errorf("%s", lines)
}
