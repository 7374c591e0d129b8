package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// saver is a program that saves only when it is told to leave.
const saver = `import json, os, signal, socket, time

told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(True))
channel = socket.socket(socket.AF_UNIX)
channel.connect(os.environ["TUNEHOST_CHANNEL"])
lines = channel.makefile("rw")


def report(iteration, **more):
    print(json.dumps({"metrics": {"loss": 1 / iteration}, "iteration": iteration, **more}), file=lines, flush=True)
    return json.loads(lines.readline()).get("decision")


def saved(iteration):
    folder = os.path.join(os.environ["TUNEHOST_CHECKPOINT_DIR"], "last")
    os.makedirs(folder)
    with open(os.path.join(folder, "iteration"), "w") as f:
        f.write(str(iteration))
    return folder


at = 0
if "TUNEHOST_CHECKPOINT" in os.environ:
    with open(os.path.join(os.environ["TUNEHOST_CHECKPOINT"], "iteration")) as f:
        at = int(f.read())
while True:
    time.sleep(0.2)
    at += 1
    if told:
        report(at, checkpoint=saved(at))
        break
    if report(at) != "continue":
        report(at, checkpoint=saved(at))
        break
`

// lasting has trials that run until they are told to leave, each with all GPUs of a node.
const lasting = `trainable: {command: [python3, train.py]}
stop_grace: 60s
failures: {retries: 0}
trials: 2
concurrency: 2
resources: {cpu: 0.1, gpu: 2}
executor: `

// saving writes an experiment file and the program saver, and returns their folder.
func (w *world) saving(t testing.TB, name, text string) (dir string) {
	t.Helper()
	dir = w.file(t, name, text)
	if err := os.WriteFile(filepath.Join(dir, "train.py"), []byte(saver), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// event is one of an experiment's record.
type event struct {
	Event string
	Time  time.Time
	At    float64 `json:"at_s"`
	Trial int
	Lease int
}

// events are those of some kinds, in order.
func (w *world) events(t testing.TB, dir, name string, kinds ...string) (list []event) {
	t.Helper()
	out, _ := w.command(dir, "journal", filepath.Join("results", name), "--json").Output() // it may not exist yet
	for line := range strings.Lines(string(out)) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if slices.Contains(kinds, e.Event) {
			list = append(list, e)
		}
	}
	return list
}

// more waits until each of two trials has so many more results.
func (w *world) more(t testing.TB, dir, name string, n int) {
	t.Helper()
	counts := func() (counts [2]int) {
		for _, e := range w.events(t, dir, name, "result_reported") {
			counts[e.Trial]++
		}
		return counts
	}
	before := counts()
	until(t, fmt.Sprint(n, " more results of each trial"), func() bool {
		now := counts()
		return now[0] >= before[0]+n && now[1] >= before[1]+n
	})
}

// wholeTrials checks that each trial continued from its last result each time, so that none is there twice, and that no
// lease was lost and no attempt failed.
func (w *world) wholeTrials(t testing.TB, dir, name string) {
	t.Helper()
	reported := map[int]int{}
	for _, e := range w.events(t, dir, name, "result_reported") {
		reported[e.Trial]++
	}
	for trial := range 2 {
		out := w.run(t, dir, "results", filepath.Join("results", name), fmt.Sprint(trial), "--json")
		last := 0
		for line := range strings.Lines(out) {
			var r struct{ Iteration int }
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			if r.Iteration != last+1 {
				t.Errorf("trial %d: iteration %d follows %d", trial, r.Iteration, last)
			}
			last = r.Iteration
		}
		if reported[trial] != last {
			t.Errorf("trial %d: %d results were reported for %d iterations", trial, reported[trial], last)
		}
	}
	w.noticed(t, dir, name)
}

// noticed checks that each lease that was lost had had notice: its pod ends when its trial has saved.
func (w *world) noticed(t testing.TB, dir, name string) {
	t.Helper()
	had := map[int]bool{}
	for _, e := range w.events(t, dir, name, "lease_ending", "lease_lost") {
		if e.Event == "lease_lost" && !had[e.Lease] {
			t.Errorf("the lease %d was lost without notice", e.Lease)
		}
		had[e.Lease] = true
	}
}

// stop interrupts a host, and waits for its end.
func stop(host *osexec.Cmd) {
	_ = host.Process.Signal(syscall.SIGINT)
	_ = host.Wait()
}

// B-132: the scheduler preempts a pod for one with a higher priority. The trial saves, waits, and continues when
// there is room again.
func testPreempted(t *testing.T, w *world) {
	for name, value := range map[string]int{"low": -10, "high": 1000} {
		w.post(t, "/apis/scheduling.k8s.io/v1/priorityclasses", fmt.Sprintf(
			"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: %s}, value: %d}", name, value))
	}
	low := w.executor(", notice: 120, template: {spec: {priorityClassName: low}}")
	dir := w.saving(t, "preempted", lasting+low+"\n")
	host := w.start(t, dir, "run", "e.yaml")
	w.more(t, dir, "preempted", 3)
	w.post(t, "/api/v1/namespaces/default/pods", `{apiVersion: v1, kind: Pod, metadata: {name: urgent}, spec: {
		priorityClassName: high, terminationGracePeriodSeconds: 0, containers: [{name: c,
		image: "docker.io/tunehost/pause:1", resources: {limits: {nvidia.com/gpu: 2}}}]}}`)
	until(t, "the urgent pod runs, and the trial that was there waits for GPUs", func() bool {
		p, err := w.api.pod(context.Background(), "urgent")
		out, _ := w.command(dir, "status", filepath.Join("results", "preempted")).CombinedOutput()
		return err == nil && p.Status.Phase == "Running" && strings.Contains(string(out), "Insufficient nvidia.com/gpu")
	})
	if n := len(w.events(t, dir, "preempted", "lease_ending")); n != 1 {
		t.Errorf("%d leases had notice, want 1", n)
	}
	if err := w.api.remove(t.Context(), "pods", "urgent", "", 0); err != nil {
		t.Fatal(err)
	}
	w.more(t, dir, "preempted", 3)
	stop(host)
	w.wholeTrials(t, dir, "preempted")
}

// B-132: a node is drained (its pods are evicted), and a kubelet ends a pod with SIGTERM alone, as it does when
// its node runs out of memory or shuts down. Either way the trial saves and continues in another pod.
func testEvicted(t *testing.T, w *world) {
	text := strings.Replace(lasting, "gpu: 2", "gpu: 1", 1)
	dir := w.saving(t, "evicted", text+w.executor(", notice: 120")+"\n")
	host := w.start(t, dir, "run", "e.yaml")
	w.more(t, dir, "evicted", 3)
	node := w.pods(t)[0].Spec.NodeName
	w.patch(t, "/api/v1/nodes/"+node, `[{"op": "add", "path": "/spec/unschedulable", "value": true}]`)
	ends := 0
	for _, p := range w.pods(t) {
		if p.Spec.NodeName == node {
			ends++
			w.post(t, "/api/v1/namespaces/default/pods/"+p.Name+"/eviction",
				"{apiVersion: policy/v1, kind: Eviction, metadata: {name: "+p.Name+"}}")
		}
	}
	until(t, "all pods are on the other node", func() bool {
		pods := w.pods(t)
		for _, p := range pods {
			if p.Spec.NodeName == node {
				return false
			}
		}
		return len(pods) == 2
	})
	w.patch(t, "/api/v1/nodes/"+node, `[{"op": "remove", "path": "/spec/unschedulable"}]`)
	w.more(t, dir, "evicted", 3)
	victim := w.running(t)[0]
	if err := w.api.exec(t.Context(), victim, []string{"kill", "-TERM", "1"}, nil, nil, os.Stderr); err != nil {
		t.Fatal(err)
	}
	until(t, "another pod", func() bool { return len(w.running(t)) == 2 && !slices.Contains(w.running(t), victim) })
	w.more(t, dir, "evicted", 3)
	if n := len(w.events(t, dir, "evicted", "lease_ending")); n != ends+1 {
		t.Errorf("%d leases had notice, want %d", n, ends+1)
	}
	stop(host)
	w.wholeTrials(t, dir, "evicted")
}

// B-132: pods that live for little more than a minute are enough for trials that take longer.
func testShortPods(t *testing.T, w *world) {
	dir := w.saving(t, "short", lasting+w.executor(", time: 70, notice: 40")+"\n")
	host := w.start(t, dir, "run", "e.yaml")
	until(t, "each trial has run in three pods", func() bool {
		return len(w.events(t, dir, "short", "attempt_started")) >= 6
	})
	w.more(t, dir, "short", 3)
	stop(host)
	w.wholeTrials(t, dir, "short")
}

// B-133: the trials of a node whose network fails continue elsewhere, and what ran there ends by itself.
func testCutNode(t *testing.T, w *world) {
	beats := t.TempDir()
	text := `trainable:
  command: [sh, -c, 'while :; do echo "{{\"loss\": 1}}"; echo >> "$BEATS/$(hostname)"; sleep 0.2; done']
trials: 2
concurrency: 2
failures: {retries: 0}
resources: {cpu: 0.1, gpu: 1}
executor: `
	dir := w.file(t, "cut", text+w.executor(strings.ReplaceAll(`, template: {spec: {
		containers: [{name: trial, env: [{name: BEATS, value: DIR}], volumeMounts: [{name: beats, mountPath: DIR}]}],
		volumes: [{name: beats, hostPath: {path: DIR}}]}}`, "DIR", beats))+"\n")
	host := w.start(t, dir, "run", "e.yaml")
	w.more(t, dir, "cut", 3)
	victim := w.pods(t)[0]
	w.Cut(t, victim.Spec.NodeName)
	healed := false
	heal := func() {
		if !healed {
			w.Heal(t, victim.Spec.NodeName)
		}
		healed = true
	}
	defer heal()
	until(t, "both trials on the other node", func() bool {
		n := 0
		for _, p := range w.pods(t) {
			if p.Spec.NodeName != victim.Spec.NodeName && p.Status.Phase == "Running" && p.DeletionTimestamp == nil {
				n++
			}
		}
		return n == 2
	})
	w.more(t, dir, "cut", 3)
	size := func() int64 {
		i, err := os.Stat(filepath.Join(beats, victim.Name))
		if err != nil {
			t.Fatal(err)
		}
		return i.Size()
	}
	until(t, "the program on the node that was cut off has ended", func() bool {
		before := size()
		time.Sleep(2 * time.Second)
		return size() == before
	})
	heal()
	stop(host)
	if lost := w.events(t, dir, "cut", "lease_lost"); len(lost) == 0 {
		t.Error("no lease was lost")
	}
}

// Without a host for longer than host_grace, all that runs in pods ends by itself; a later host starts new ones.
func testAbandoned(t *testing.T, w *world) {
	dir := w.file(t, "abandoned", endless+w.executor(", host_grace: 5s")+"\n")
	first := w.start(t, dir, "run", "e.yaml")
	until(t, "results in two pods", func() bool { return len(w.running(t)) == 2 && w.results(dir, "abandoned") > 4 })
	_ = first.Process.Kill()
	_ = first.Wait()
	until(t, "no pod runs", func() bool { return len(w.running(t)) == 0 })
	had := w.results(dir, "abandoned")
	second := w.start(t, dir, "resume", filepath.Join("results", "abandoned"))
	until(t, "results in new pods", func() bool { return w.results(dir, "abandoned") > had+4 })
	stop(second)
}

// B-131: trials whose agents connect to the host do not notice that the API server is gone for a while, and the
// executor continues when it is back.
func testSilentServer(t *testing.T, w *world) {
	dir := w.file(t, "silent", endless+w.executor(", connection: dial")+"\n")
	host := w.start(t, dir, "run", "e.yaml")
	until(t, "results in two pods", func() bool { return len(w.running(t)) == 2 && w.results(dir, "silent") > 4 })
	before, had := w.running(t), w.results(dir, "silent")
	w.Pause(t)
	goOn := func() { w.Continue(t) }
	defer goOn()
	until(t, "results meanwhile", func() bool { return w.results(dir, "silent") > had+40 })
	goOn()
	if err := w.api.remove(t.Context(), "pods", before[0], "", soonest); err != nil {
		t.Fatal(err)
	}
	until(t, "another pod", func() bool {
		now := w.running(t)
		return len(now) == 2 && !slices.Contains(now, before[0])
	})
	if !slices.Contains(w.running(t), before[1]) {
		t.Errorf("the pods were %v, and are %v: the API server's silence has cost one", before, w.running(t))
	}
	stop(host)
}
