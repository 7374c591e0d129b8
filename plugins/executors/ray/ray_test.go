// Package ray_test runs the executor ray on a real Ray cluster of two nodes.
package ray_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/internal/engines/ray"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func config(t *testing.T, c *ray.Cluster) process.Config {
	t.Helper()
	main, err := filepath.Abs("executor/main.py")
	if err != nil {
		t.Fatal(err)
	}
	return process.Config{Program: process.Program{
		Kind: sdk.KindExecutor, Name: "ray", Path: c.Python, Args: []string{main},
		Env: append([]string{"PYTHONDONTWRITEBYTECODE=1"}, c.Env...), StartTimeout: time.Minute,
	}}
}

// python runs tests of executor_test.py.
func python(t *testing.T, c *ray.Cluster, env []string, names ...string) {
	t.Helper()
	cmd := exec.Command(c.Python, append([]string{"-W", "ignore", "-m", "unittest"}, names...)...)
	cmd.Env = append(append(os.Environ(), c.Env...), append(env, "PYTHONDONTWRITEBYTECODE=1")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRay starts one cluster for all tests: that takes longer than they do. The last one takes a node
// from it.
func TestRay(t *testing.T) {
	c := ray.Start(t, ray.Options{})
	t.Run("python", func(t *testing.T) { python(t, c, nil, "executor_test") })
	t.Run("conformance", func(t *testing.T) {
		conformance.RunAll(t, sdk.KindExecutor, conformance.Process(config(t, c)), conformance.Options{Short: true})
	})
	t.Run("a node dies", func(t *testing.T) {
		python(t, c, []string{"KILL_N2=1"}, "executor_test.Losses.test_a_node_dies")
	})
}
