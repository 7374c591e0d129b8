package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/tunehost/tunehost/plugins/sdk/bridge"
)

// socket is where the agent of a bundle takes connections in its pod, as startScript has it.
func socket(bundle int) string { return fmt.Sprintf("%s/bridge-%d/agent", folder, bundle) }

// firstBundle is the first bundle in a pod: a pod has one, and then its number, or all.
func firstBundle(p *corev1.Pod) int {
	n, _ := strconv.Atoi(p.Labels[podLabel])
	return n
}

// way is how agents and the host reach each other. A host that does not say where it listens is dialled.
func (e *executor) way() way {
	if e.x.Host == "" {
		return dial
	}
	return e.Connection
}

// keepBridge connects the agent of a bundle with the host until the lease ends.
func (e *executor) keepBridge(ctx context.Context, p *corev1.Pod, bundle int) {
	if e.way() == dial || e.x.Agent == nil {
		return
	}
	last := ""
	bridge.Run(ctx, bridge.Config{Host: e.x.Host,
		Open: func(ctx context.Context) (io.ReadWriteCloser, error) { return e.bridge(ctx, p.Name, bundle), nil },
		Warn: func(err error) {
			if text := oneLine(err.Error()); text != last && !errors.Is(err, io.EOF) {
				last = text
				say("the connection to the agent in the pod %s: %s; it is tried again", p.Name, text)
			}
		}})
}

// bridge is the other end of an agent's socket.
func (e *executor) bridge(ctx context.Context, pod string, bundle int) io.ReadWriteCloser {
	ctx, cancel := context.WithCancel(ctx)
	in, toPod := io.Pipe()
	fromPod, out := io.Pipe()
	e.following.Go(func() {
		var errs bytes.Buffer
		command := []string{e.program(), "agent", "bridge", socket(bundle)}
		err := e.cluster.exec(ctx, pod, command, in, out, &errs)
		if err != nil && errs.Len() > 0 {
			err = fmt.Errorf("%s: %w", lastLine(errs.String()), err)
		}
		_ = out.CloseWithError(err)
		_ = in.Close()
	})
	return &stream{fromPod, toPod, cancel}
}

// stream is the input and the output of a program in a pod.
type stream struct {
	*io.PipeReader
	in   *io.PipeWriter
	stop context.CancelFunc
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) { return s.in.Write(p) }

// Close implements io.Closer.
func (s *stream) Close() error {
	s.stop()
	return errors.Join(s.in.Close(), s.PipeReader.Close())
}
