// Package kubernetes brings up a real Kubernetes on this machine, for tests: a control plane, and nodes whose
// kubelet and containerd run in namespaces of their own, so that nodes can be cut off or killed.
// kubernetes-build.sh builds its programs once, which takes about 20 minutes; kubernetes-up.sh and
// kubernetes-down.sh do the rest, and are for people too.
//
// A test that needs Kubernetes starts with
//
//	cluster := kubernetes.Start(t, kubernetes.Options{})
//
// Without root, the programs or the packages the test is skipped with a message, or fails if CI or STRICT is
// set, as with other toolchains (internal/toolchain).
package kubernetes

import (
	"embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/engines"
	"github.com/tunehost/tunehost/internal/toolchain"
)

//go:embed *.sh
var scripts embed.FS

// Options are the size of a cluster. The zero value has 2 nodes with 2 GPUs each, which are only numbers.
type Options struct {
	Nodes, GPUs int
	// Simulated are more nodes, whose pods only pretend to run. Their taint is called simulated.
	Simulated int
}

// Cluster is a Kubernetes that runs. Its nodes are called n1, n2 and so on, and the simulated ones k1, k2 and so on.
type Cluster struct {
	// Config is the path of a kubeconfig of its administrator.
	Config string
	// Image is an image that the nodes have, with a shell and Python.
	Image string
	// Server is the URL of the API server.
	Server string

	dir, bridge string
	env         []string // of the scripts
}

// cannot is the exit status of kubernetes-up.sh on a machine that lacks something.
const cannot = 77

// upWithin bounds the start: about 20 s on an idle machine.
const upWithin = 10 * time.Minute

// Start brings up a cluster until the end of the test, and sets KUBECONFIG.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c, err := Up(o)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == cannot {
		toolchain.Missing(t, toolchain.Kubernetes, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Down(); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("KUBECONFIG", c.Config)
	toolchain.Tested(t, toolchain.Kubernetes)
	return c
}

// Up brings up a cluster. Down must be called in the end.
func Up(o Options) (*Cluster, error) {
	dir, err := os.MkdirTemp("/tmp", "tk8-")
	if err != nil {
		return nil, err
	}
	entries, err := scripts.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		text, err := scripts.ReadFile(entry.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, entry.Name()), text, 0o700)
		}
		if err != nil {
			return nil, err
		}
	}
	network, err := free()
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, bridge: fmt.Sprint("tk8", network), Image: "docker.io/tunehost/python:1",
		Config: filepath.Join(dir, "c", "admin.kubeconfig"), Server: fmt.Sprintf("https://10.%d.0.1:6443", network)}
	c.env = append(os.Environ(), "KUBERNETES_T_DIR="+filepath.Join(dir, "c"), fmt.Sprint("KUBERNETES_T_NET=", network),
		"KUBERNETES_T_NODES="+engines.Number(o.Nodes, 2), "KUBERNETES_T_GPUS="+engines.Number(o.GPUs, 2),
		fmt.Sprint("KUBERNETES_T_KWOK=", o.Simulated))
	if err := c.script("kubernetes-up.sh"); err != nil {
		return nil, errors.Join(err, c.Down())
	}
	return c, nil
}

// Down stops the cluster and removes all of it.
func (c *Cluster) Down() error {
	return errors.Join(c.script("kubernetes-down.sh"), os.RemoveAll(c.dir))
}

// script runs one of the scripts.
func (c *Cluster) script(name string) error { return engines.Script(c.dir, name, c.env, upWithin) }

// free finds a network that no other cluster of this machine uses.
func free() (network int, err error) {
	for try := range 60 {
		network = 192 + (os.Getpid()+try)%60
		if _, err := net.InterfaceByName(fmt.Sprint("tk8", network)); err != nil {
			return network, nil
		}
	}
	return 0, errors.New("60 clusters run on this machine; remove them with kubernetes-down.sh")
}

// Cut takes a node off the network. The processes there continue.
func (c *Cluster) Cut(t testing.TB, node string) { c.link(t, node, "down") }

// Heal undoes Cut.
func (c *Cluster) Heal(t testing.TB, node string) { c.link(t, node, "up") }

func (c *Cluster) link(t testing.TB, node, state string) {
	t.Helper()
	out, err := exec.Command("ip", "link", "set", c.bridge+"-"+node, state).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// Pause freezes the API server: it answers nobody, and closes no connection.
func (c *Cluster) Pause(t testing.TB) { c.signal(t, "apiserver", syscall.SIGSTOP) }

// Continue undoes Pause.
func (c *Cluster) Continue(t testing.TB) { c.signal(t, "apiserver", syscall.SIGCONT) }

// Kill ends a node, with everything that runs on it, as if its power failed.
func (c *Cluster) Kill(t testing.TB, node string) {
	c.signal(t, node, syscall.SIGKILL) // unshare --kill-child: the node ends with it
}

// signal sends a signal to one of the programs.
func (c *Cluster) signal(t testing.TB, name string, signal syscall.Signal) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(c.Config), name+".pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
}
