package hosttest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/storage"
)

// leased is held on a cluster with room for three trials at a time, which run as long as
// the gate is closed.
var leased = strings.Replace(held, "{plugin: asha, max: 30}", "fifo", 1) + "executor: {plugin: fake, nodes: 3, cpu: " +
	"1, queue: 0.05}\n"

// onCluster writes an experiment that does not run on this machine's resources.
func onCluster(t *testing.T, yaml string) *experiment {
	t.Helper()
	x := write(t, yaml, nil)
	x.Resources = ""
	return x
}

// cluster is what the fake cluster keeps of itself.
type cluster struct {
	Leases map[string]json.RawMessage `json:"leases"`
}

func (x *experiment) cluster(t *testing.T) (c cluster) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(x.dir, ".fake-cluster.json"))
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// noLeases: neither the record nor the cluster has one.
func (x *experiment) noLeases(t *testing.T) {
	t.Helper()
	if c := x.cluster(t); len(c.Leases) > 0 {
		t.Errorf("the cluster still has %d leases", len(c.Leases))
	}
	if s := x.look(t).Now().CurrentStatus(); s.Leases == nil || s.Leases.String() != "none" {
		t.Errorf("the record has leases: %v", s.Leases)
	}
}

// told counts the events about leases in the record, by kind.
func (x *experiment) told(t *testing.T) map[string]int {
	t.Helper()
	d, err := storage.At(x.dir)
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Open(d.Journal())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	counts := map[string]int{}
	err = h.Each(func(s *history.Step) error {
		switch s.Event.(type) {
		case *core.LeaseGranted:
			counts["granted"]++
		case *core.LeasePending:
			counts["pending"]++
		case *core.LeaseEnding:
			counts["ending"]++
		case *core.LeaseLost:
			counts["lost"]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// B-130, B-132, B-133: on a cluster that queues, preempts with notice, loses nodes, cuts
// them off and fails to answer, all trials end, nothing is lost or doubled, and all leases
// are given back.
func TestFakeCluster(t *testing.T) {
	t.Parallel()
	for name, misfortune := range map[string]string{
		"with notice":    "preempt: 0.4, notice: 0.2",
		"without notice": "preempt: 0.6, notice: 0, lose_node: 0.7, cut_off: 0.9, repair: 0.1",
		"flaky":          "flaky: 0.4, slow: 0.01, preempt: 1, notice: 0.3",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			yaml := strings.NewReplacer("iterations: 30", "iterations: 12", "sleep: 0.08", "sleep: 0.03",
				"every: 10", "every: 1", "max: 30", "max: 12").Replace(long)
			x := onCluster(t, yaml+"failures: {lost: 1000}\nexecutor: {plugin: fake, nodes: 2, cpu: 2, queue: 0.05, "+
				misfortune+"}\n")
			x.run(t, 0)
			hosttest.CheckFinished(t, x.dir, 5)
			hosttest.CheckReplay(t, x.dir, plugged)
			x.noLeases(t)
		})
	}
}

// begun is an experiment on a cluster, and a host that has three results of it.
func begun(t *testing.T) (*experiment, *process) {
	t.Helper()
	x := onCluster(t, leased)
	p := x.start(t)
	x.awaitResults(t, p, 3)
	return x, p
}

// B-134: a host that was killed takes its leases back, without queueing again.
func TestKilledWithLeases(t *testing.T) {
	t.Parallel()
	x, p := begun(t)
	p.kill(t)
	before := x.told(t)
	x.letGo(t)
	x.run(t, 0)
	hosttest.CheckFinished(t, x.dir, 5)
	hosttest.CheckReplay(t, x.dir, plugged)
	x.noLeases(t)
	after := x.told(t)
	if n := after["granted"] - before["granted"]; n != 3 || after["lost"] != 0 {
		t.Errorf("%d leases were adopted, not 3; %d were lost", n, after["lost"])
	}
}

// B-084: an interrupted experiment holds no lease, and continues with others, or on this
// machine.
func TestInterruptedWithLeases(t *testing.T) {
	t.Parallel()
	x, p := begun(t)
	p.signal(t, syscall.SIGINT)
	p.ends(t, exitInterrupted)
	x.noLeases(t)
	x.letGo(t)
	x.run(t, 0, "executor=local")
	hosttest.CheckFinished(t, x.dir, 5)
	hosttest.CheckReplay(t, x.dir, plugged)
}

// Leases that a killed host has left are not forgotten for another executor.
func TestOtherExecutor(t *testing.T) {
	t.Parallel()
	x, p := begun(t)
	p.kill(t)
	x.letGo(t)
	status, err := x.look(t).Status(time.Now())
	said := status.Leases.String()
	if err != nil || !strings.HasPrefix(said, "when its last host ended (") ||
		!strings.Contains(said, "): 3 in use, ") {
		t.Errorf("%v, %v", status.Leases, err)
	}
	const holds = `: the experiment holds leases of the executor "fake" (`
	for _, set := range []string{"executor=local", "executor.state=other.json"} {
		if out := x.run(t, exitUser, set); !strings.Contains(out, "--set "+set+holds) {
			t.Error(out)
		}
		_, err := x.set(t, set)
		if err == nil || !strings.HasPrefix(err.Error(), set+holds) {
			t.Errorf("set %s: %v", set, err)
		}
	}
	if a, err := x.set(t, "executor.idle=1h"); err != nil || len(a.Changed) != 1 {
		t.Errorf("how long idle leases are kept: %+v, %v", a, err)
	}
	x.run(t, 0)
	x.noLeases(t)
	if a, err := x.set(t, "executor=local"); err != nil || len(a.Changed) == 0 {
		t.Errorf("once no lease is held: %+v, %v", a, err)
	}
}

// set changes settings while no host runs.
func (x *experiment) set(t *testing.T, settings ...string) (steer.Answer, error) {
	t.Helper()
	rests := &steer.Resting{View: x.look(t).Experiment}
	return rests.Do(steer.Set{Settings: settings})
}

// B-135: a request that can never be granted ends the experiment with the cluster's words;
// one that waits says why.
func TestRefusedAndPending(t *testing.T) {
	t.Parallel()
	x := onCluster(t, leased+"resources: {cpu: 7}\n")
	if out := x.run(t, exitFailed); !strings.Contains(out,
		"lease refused: no place for cpu 7 in a cluster of 3 nodes with cpu 1, memory 64GiB each") {
		t.Error(out)
	}
	x.noLeases(t)
	x = onCluster(t, strings.Replace(leased, "queue: 0.05", "queue: 100000", 1))
	p := x.start(t)
	x.await(t, p, func() bool {
		if _, err := os.Stat(filepath.Join(x.dir, "experiment.yaml")); err != nil {
			return false
		}
		s := x.look(t).Now().CurrentStatus()
		return s.Leases != nil && s.Leases.String() == "5 waiting: in the queue"
	})
	p.signal(t, syscall.SIGINT)
	p.ends(t, exitInterrupted)
	x.noLeases(t)
}

// The executor's process is one that ends, too: it is started again, and knows its leases.
func TestExecutorKilled(t *testing.T) {
	t.Parallel()
	x, p := begun(t)
	if !killExecutor(t, filepath.Dir(x.File)) {
		t.Fatal("there is no process of the executor")
	}
	x.letGo(t)
	p.ends(t, 0)
	hosttest.CheckFinished(t, x.dir, 5)
	x.noLeases(t)
	if n := x.told(t)["lost"]; n != 0 {
		t.Errorf("%d leases were lost", n)
	}
}

// killExecutor kills the executor of a host in the directory.
func killExecutor(t *testing.T, dir string) (killed bool) {
	t.Helper()
	for _, text := range hosttest.Processes(dir) {
		number, command, _ := strings.Cut(text, " ")
		if pid, err := strconv.Atoi(number); err == nil && strings.Contains(command, "plugin-serve executor fake") {
			killed = syscall.Kill(pid, syscall.SIGKILL) == nil || killed
		}
	}
	return killed
}
