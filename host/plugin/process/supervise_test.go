package process_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/internal/suite"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// opener starts a searcher's process for each life, and notes its id.
func opener(t *testing.T, options []byte, pid *int) func(context.Context, []byte) (plugin.Searcher, error) {
	return func(ctx context.Context, snapshot []byte) (plugin.Searcher, error) {
		c, _ := registry.Config(sdk.KindSearcher, "probe")
		p, err := process.Start(ctx, c)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = p.Close() })
		*pid = p.PID()
		return p.OpenSearcher(ctx, suite.Problem(), options, snapshot)
	}
}

// B-077
func TestSupervisedProcess(t *testing.T) {
	var pid int
	history := suite.Events(1, 3)
	s, err := plugin.SuperviseSearcher(t.Context(), plugin.Supervision{
		Name: "probe", Now: time.Now,
		History: func(after, through uint64,
			tell func([]sdk.Event) error) error {
			return tell(history[after:through])
		},
	}, opener(t, nil, &pid))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Observe(t.Context(), history); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	killed := pid
	// The process may take a moment to die, and answer once more.
	eventually(t, "the restart", func() bool {
		answer, err := s.Suggest(t.Context(), []sdk.Request{{Seed: 5}})
		if err != nil || answer.Points[0][0] != 5.003 {
			t.Fatal(answer, err)
		}
		return pid != killed
	})
}

// B-077
func TestSupervisedProcessGivesUp(t *testing.T) {
	var pid int
	s, err := plugin.SuperviseSearcher(t.Context(), plugin.Supervision{Name: "probe", Now: time.Now},
		opener(t, suite.Do("exit"), &pid))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Suggest(t.Context(), make([]sdk.Request, 1))
	if !errors.Is(err, plugin.ErrGaveUp) || !strings.HasSuffix(err.Error(),
		"exited with status 3 in Suggest; its last output: last words") {
		t.Fatal(err)
	}
}
