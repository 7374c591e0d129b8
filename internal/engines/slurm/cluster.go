// Package slurm brings up a real Slurm of several nodes on this machine, for tests. Each node is a
// slurmd in a network namespace of its own, so that nodes can be cut off. slurm-up.sh and
// slurm-down.sh do the work, and are for people too.
//
// A test that needs Slurm starts with
//
//	cluster := slurm.Start(t, slurm.Options{Nodes: 4})
//
// Without root or the packages the test is skipped with a message, or fails if CI or STRICT is
// set, as with other toolchains (internal/toolchain).
package slurm

import (
	"cmp"
	_ "embed"
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

//go:embed slurm-up.sh
var up []byte

//go:embed slurm-down.sh
var down []byte

//go:embed slurm-packages.sh
var packages []byte

// Options are the size of a cluster. The zero value has 4 nodes with 8 CPUs and 2 GPUs each.
type Options struct {
	Nodes, CPUs, GPUs int
	// Hide is a folder that the nodes do not see: each has an empty one of its own. "": they see all.
	Hide string
	// UserSignal: at a preemption jobs get the signal that they have asked for, and not SIGTERM
	// (preempt_send_user_signal).
	UserSignal bool
}

// Cluster is a Slurm that runs.
type Cluster struct {
	// Conf is the value of SLURM_CONF, by which commands find the cluster.
	Conf string
	// Address is this machine's address for the nodes.
	Address string
	dir     string
	bridge  string
	env     []string // of the scripts
	nodes   int
}

// cannot is the exit status of slurm-up.sh on a machine that lacks something.
const cannot = 77

// upWithin bounds the start: about 2 s, and half a minute more to install packages.
const upWithin = 3 * time.Minute

// Start brings up a cluster until the end of the test, and sets SLURM_CONF and an empty HOME.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c, err := Up(o)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == cannot {
		toolchain.Missing(t, toolchain.Slurm, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Down(); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("SLURM_CONF", c.Conf)
	bareHome(t)
	toolchain.Tested(t, toolchain.Slurm)
	return c
}

// bareHome gives the test an empty home, which its jobs get: their login shells would read the user's profile, and one
// that is killed there may leave a lock for which all later ones wait (pyenv's: a minute each). Go keeps its folders.
func bareHome(t testing.TB) {
	t.Helper()
	names := []string{"GOENV", "GOPATH", "GOCACHE", "GOMODCACHE"}
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal("go env: ", err)
	}
	for i, value := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		t.Setenv(names[i], value)
	}
	t.Setenv("HOME", t.TempDir())
}

// Up brings up a cluster. Down must be called in the end.
func Up(o Options) (*Cluster, error) {
	dir, err := os.MkdirTemp("/tmp", "tunehost-slurm-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // other users find the configuration
		return nil, err
	}
	for name, text := range map[string][]byte{
		"slurm-up.sh": up, "slurm-down.sh": down, "slurm-packages.sh": packages,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o700); err != nil {
			return nil, err
		}
	}
	network, port, err := free()
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, bridge: fmt.Sprint("tsl", network), Conf: filepath.Join(dir, "cluster", "slurm.conf"),
		Address: fmt.Sprintf("10.%d.0.1", network)}
	c.nodes = cmp.Or(o.Nodes, 4)
	c.env = append(os.Environ(), "SLURM_T_DIR="+filepath.Join(dir, "cluster"), fmt.Sprint("SLURM_T_NET=", network),
		fmt.Sprint("SLURM_T_PORT=", port), "SLURM_T_NODES="+engines.Number(c.nodes, 4),
		"SLURM_T_CPUS="+engines.Number(o.CPUs, 8), "SLURM_T_GPUS="+engines.Number(o.GPUs, 2), "SLURM_T_HIDE="+o.Hide)
	if o.UserSignal {
		c.env = append(c.env, "SLURM_T_CTLD=preempt_send_user_signal")
	}
	if err := c.script("slurm-up.sh"); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return c, nil
}

// Down stops the cluster and removes all of it.
func (c *Cluster) Down() error {
	return errors.Join(c.script("slurm-down.sh"), os.RemoveAll(c.dir))
}

// script runs one of the scripts.
func (c *Cluster) script(name string) error { return engines.Script(c.dir, name, c.env, upWithin) }

// free finds a network and a port that no other cluster of this machine uses.
func free() (network, port int, err error) {
	pid := os.Getpid()
	for try := range 100 {
		network = 64 + (pid+try)%128
		if _, err := net.InterfaceByName(fmt.Sprint("tsl", network)); err != nil {
			return network, 12000 + 100*network, nil // below the ports that systems choose
		}
	}
	return 0, 0, errors.New("100 clusters run on this machine; remove them with slurm-down.sh")
}

// Run runs a command as a user of the cluster and returns its output.
func (c *Cluster) Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.Conf)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Cut takes a node off the network; what runs there continues.
func (c *Cluster) Cut(t testing.TB, node string) {
	t.Helper()
	c.Run(t, "ip", "-n", c.bridge+"-"+node, "link", "set", "eth0", "down")
}

// Block has no node connect to a port, as a firewall does.
func (c *Cluster) Block(t testing.TB, port int) {
	t.Helper()
	for i := range c.nodes {
		c.Run(t, "ip", "-n", fmt.Sprintf("%s-n%d", c.bridge, i+1), "rule", "add", "ipproto", "tcp", "dport",
			strconv.Itoa(port), "prohibit")
	}
}

// Heal undoes Cut.
func (c *Cluster) Heal(t testing.TB, node string) {
	t.Helper()
	c.Run(t, "ip", "-n", c.bridge+"-"+node, "link", "set", "eth0", "up")
}

// KillDaemon kills the slurmd of a node, and nothing that it has started.
func (c *Cluster) KillDaemon(t testing.TB, node string) {
	t.Helper()
	c.kill(t, "slurmd."+node+".pid")
}

// StartDaemon starts the slurmd of a node again, after KillDaemon.
func (c *Cluster) StartDaemon(t testing.TB, node string) {
	t.Helper()
	c.start(t, "slurmd."+node, "nsenter", "--net=/run/netns/"+c.bridge+"-"+node, "slurmd", "-D", "-N", node)
}

// KillController kills slurmctld: jobs continue, and commands fail until StartController.
func (c *Cluster) KillController(t testing.TB) {
	t.Helper()
	c.kill(t, "slurmctld.pid")
}

// StartController starts slurmctld again, with its saved state.
func (c *Cluster) StartController(t testing.TB) {
	t.Helper()
	c.start(t, "slurmctld", "slurmctld", "-D")
}

// kill kills the daemon whose number is in a file.
func (c *Cluster) kill(t testing.TB, file string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(c.Conf), file))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// start starts a daemon, which slurm-down.sh ends with the others.
func (c *Cluster) start(t testing.TB, log, name string, args ...string) {
	t.Helper()
	dir := filepath.Dir(c.Conf)
	out, err := os.OpenFile(filepath.Join(dir, "log", log+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "SLURM_CONF="+c.Conf), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = cmd.Wait() }()
	pids, err := os.OpenFile(filepath.Join(dir, "pids"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pids.Close()
	if _, err := fmt.Fprintln(pids, cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
}

// Processes lists the command lines of all processes on the nodes except Slurm's.
func (c *Cluster) Processes(t testing.TB, node string) (list []string) {
	t.Helper()
	for _, pid := range strings.Fields(c.Run(t, "ip", "netns", "pids", c.bridge+"-"+node)) {
		text, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
		line := strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
		if line != "" && !strings.HasPrefix(line, "slurm") {
			list = append(list, line)
		}
	}
	return list
}
