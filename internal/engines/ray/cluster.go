// Package ray brings up a real Ray cluster of several nodes on this machine, for tests. Each node is a
// raylet of its own, so that nodes can be killed. ray-up.sh and ray-down.sh do the work, and are for
// people too.
//
// A test that needs Ray starts with
//
//	cluster := ray.Start(t, ray.Options{})
//
// Without a Python that has Ray the test is skipped with a message, or fails if CI or STRICT is set,
// as with other toolchains (internal/toolchain).
package ray

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/toolchain"
)

//go:embed ray-up.sh
var up []byte

//go:embed ray-down.sh
var down []byte

// Options are the size of a cluster. The zero value has 2 nodes with 4 CPUs and 2 GPUs each.
type Options struct {
	Nodes, CPUs, GPUs int
}

// Cluster is a Ray that runs. Its nodes are called n1, n2 and so on; n1 is the head.
type Cluster struct {
	// Python is an interpreter with Ray and the SDK.
	Python string
	// Env are the variables by which Ray's clients find the cluster, as NAME=VALUE.
	Env []string
	dir string
}

// Start brings up a cluster until the end of the test.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c := &Cluster{Python: toolchain.NeedPython(t, "ray.util", "tunehost", "grpc", "google.protobuf", "cryptography")}
	var err error
	if c.dir, err = os.MkdirTemp("/tmp", "rt."); err != nil { // short: there are sockets in it
		t.Fatal(err)
	}
	t.Cleanup(func() { c.down(t) })
	if err := c.up(o); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *Cluster) up(o Options) error {
	env := []string{"RAY_T_PYTHON=" + c.Python, "RAY_T_DIR=" + c.dir}
	for name, n := range map[string]int{"RAY_T_NODES": o.Nodes, "RAY_T_CPUS": o.CPUs, "RAY_T_GPUS": o.GPUs} {
		if n > 0 {
			env = append(env, name+"="+strconv.Itoa(n))
		}
	}
	out, err := script(up, env)
	if err != nil {
		return err
	}
	for _, field := range strings.Fields(out) {
		if strings.HasPrefix(field, "RAY_") {
			c.Env = append(c.Env, field)
		}
	}
	return nil
}

func (c *Cluster) down(t testing.TB) {
	t.Helper()
	if _, err := script(down, []string{"RAY_T_DIR=" + c.dir}); err != nil {
		t.Error(err)
	}
}

func script(text []byte, env []string) (string, error) {
	cmd := exec.Command("bash", "-s")
	cmd.Stdin, cmd.Env = bytes.NewReader(text), append(os.Environ(), env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ray: %w: %s", err, errs.String())
	}
	return string(out), nil
}
