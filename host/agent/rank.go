package agent

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// notStarted is the exit status of a shell for a program that cannot be started.
const notStarted = 127

// rankProcess represents a program on another node, and returns its exit status.
func rankProcess(text string, environ []string) int {
	var x sdk.Rank
	err := json.Unmarshal([]byte(text), &x)
	var conn net.Conn
	if err == nil {
		conn, err = net.Dial("unix", x.Socket)
	}
	if err == nil {
		err = message.NewWriter(conn).Put(message.Ask, message.Rank{Bundle: x.Bundle, Start: rankStart(&x, environ)})
	}
	if err == nil {
		err = message.Expect(conn, message.Yes, nil)
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; install it there, or list it in the executor's key upload", err)
		}
		fmt.Fprintf(os.Stderr, "tunehost: this program cannot be started on its node: %v\n", err)
		return notStarted
	}
	go passSignals(message.NewWriter(conn))
	exit, err := passOutput(conn, os.Stdout, os.Stderr)
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "tunehost: the node of this program cannot be reached any more: %v\n", err)
		return 1
	case exit.Signal != 0:
		endBy(exit.Signal)
	}
	return exit.Code
}

// rankStart is the process to start. It is killed when this process is.
func rankStart(x *sdk.Rank, environ []string) message.Start {
	p := process.Program{Name: "rank", Path: x.Path, Args: x.Args, Dir: x.Dir}
	for _, variable := range environ {
		if slices.Contains(x.Own, message.Variable(variable)) {
			p.Env = append(p.Env, variable)
		}
	}
	return message.Start{ID: rand.Text(), Program: p}
}

// passSignals passes on the signals that a trainable may send.
func passSignals(to *message.Writer) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
		syscall.SIGUSR2)
	for s := range signals {
		if to.Put(message.Signal, message.Signalled{Signal: int(s.(syscall.Signal))}) != nil {
			return
		}
	}
}

// passOutput writes what the program prints, until its end.
func passOutput(from io.Reader, stdout, stderr io.Writer) (process.Exit, error) {
	var buffer []byte
	for {
		f, err := message.Read(from, buffer)
		if err != nil {
			return process.Exit{}, err
		}
		buffer = f.Content
		switch f.Kind {
		case message.Stdout:
			_, _ = stdout.Write(f.Content)
		case message.Stderr:
			_, _ = stderr.Write(f.Content)
		case message.Exit:
			return message.ExitOf(f.Content)
		}
	}
}

// endBy ends this process by the signal that has ended the program.
func endBy(s syscall.Signal) {
	signal.Reset()
	_ = syscall.Kill(os.Getpid(), s)
	time.Sleep(time.Second) // the signal may take a moment
}
