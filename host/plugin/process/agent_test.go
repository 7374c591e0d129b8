package process_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/agent"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/exec/remote"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/internal/suite"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// far returns the host's side of a connection to an agent.
func far(t *testing.T, environ ...string) link.Session {
	t.Helper()
	host, node := link.Pipe()
	a := agent.New(agent.Options{Mark: local.NewMark(t.TempDir()), Environ: append(os.Environ(), environ...),
		Log: func(text string) { t.Log("agent: " + text) }})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = a.Serve(node)
	}()
	t.Cleanup(func() {
		_ = host.Close()
		a.Close()
		<-served
	})
	return host
}

// A plugin on a node works as it does here.
func TestSuiteOnANode(t *testing.T) {
	suite.Run(t, func(t *testing.T, kind sdk.Kind) plugin.Plugin {
		c, _ := registry.Config(kind, "probe")
		c.On = remote.Machine(context.Background(), far(t))
		return startConfig(t, c)
	})
}

// The messages for a program that cannot be used are the same on a node.
func TestNotAPluginOnANode(t *testing.T) {
	for program, says := range map[string]string{
		"bad-garbage": `cannot be used: wrote "hello world" on stdout where the handshake should be`,
		"bad-exit":    "exited with status 7 before the handshake: it is not a tunehost plugin, or it failed to start",
		"bad-endless": "its first line on stdout is longer than 16384 bytes",
		"bad-cert":    "the certificate that it announced is none",
		"bad-address": "is not in PLUGIN_UNIX_SOCKET_DIR",
	} {
		t.Run(program, func(t *testing.T) {
			c := self(t, sdk.KindSearcher, program)
			c.On = remote.Machine(context.Background(), far(t))
			wantNotStarted(t, c, says)
		})
	}
	missing := process.Config{Program: process.Program{Kind: sdk.KindSearcher, Name: "none", Path: "/no/such/program"},
		On: remote.Machine(context.Background(), far(t))}
	wantNotStarted(t, missing, `searcher "none" cannot be started: `,
		"/no/such/program: no such file or directory; its node does not have it")
}

// B-137: a process on a node has the environment of its agent, and nothing of the host's or of the agent's own.
func TestEnvironmentOnANode(t *testing.T) {
	session := far(t, "ENGINE=has set this", "CUDA_VISIBLE_DEVICES=7", "TUNEHOST_AGENT=secret", "PLUGIN_X=1")
	t.Setenv("SECRET_OF_THE_HOST", "1")
	var lines []string
	c := self(t, sdk.KindSearcher, "bad-env")
	c.Inherit = []string{"SECRET_OF_THE_HOST"}
	c.Env = []string{"OWN=1"}
	c.On = remote.Machine(context.Background(), session)
	c.Log = func(l process.Line) { lines = append(lines, l.Text) }
	_ = startConfig(t, c).Close()
	all := strings.Join(lines, "\n")
	for _, want := range []string{"ENGINE=has set this", "CUDA_VISIBLE_DEVICES=7", "OWN=1", "STDIN 0 EOF"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in %s", want, all)
		}
	}
	for _, bad := range []string{"SECRET_OF_THE_HOST", "TUNEHOST_AGENT=", "PLUGIN_X"} {
		if strings.Contains(all, bad) {
			t.Errorf("%q is in its environment", bad)
		}
	}
}

// A process whose node is cut off is lost, which is not its failure, and it ends.
func TestCutOff(t *testing.T) {
	session := far(t)
	c, _ := registry.Config(sdk.KindSearcher, "probe")
	c.On = remote.Machine(context.Background(), session)
	p := startConfig(t, c)
	s, err := p.OpenSearcher(t.Context(), suite.Problem(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = s.Suggest(t.Context(), make([]sdk.Request, 1))
	if plugin.FailureOf(err) != plugin.Unreachable {
		t.Errorf("%v: %v", plugin.FailureOf(err), err)
	}
	eventually(t, "the end of the process", func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/%d", p.PID()))
		return err != nil
	})
}
