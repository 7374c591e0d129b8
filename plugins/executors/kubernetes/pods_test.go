package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// reader has a module beside it, and data in a folder.
const reader = `import json, os, helper
base = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(base, "data", "numbers.txt")) as f:
    print(json.dumps({"loss": helper.total(f)}), flush=True)
`

// The program beside the experiment file, and what upload lists, get into pods whose image has neither.
func testUpload(t *testing.T, w *world) {
	dir := w.file(t, "upload", "trainable: {command: [python3, train.py]}\ntrials: 3\nconcurrency: 2\n"+
		"resources: {cpu: 0.1}\nexecutor: "+w.executor(", upload: [helper.py, data/]")+"\n")
	for name, text := range map[string]string{"train.py": reader, "data/numbers.txt": "1\n2\n39\n",
		"helper.py": "def total(lines):\n    return sum(float(line) for line in lines)\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.run(t, dir, "run", "e.yaml")
	out := w.run(t, dir, "trials", filepath.Join("results", "upload"), "--json")
	if n := strings.Count(out, `"loss":42`) + strings.Count(out, `"loss": 42`); n != 3 {
		t.Errorf("%d trials have read the data, want 3:\n%s", n, out)
	}
}

// single has one trial, which prints a result and ends.
const single = `trainable: {command: [echo, '{{"loss": 1}}']}
trials: 1
resources: {cpu: 0.1}
executor: `

// once runs an experiment of one trial.
func (w *world) once(t testing.TB, more string) {
	t.Helper()
	dir := w.file(t, "once", single+w.executor(more)+"\n")
	w.run(t, dir, "run", "e.yaml")
	if n := w.ended(t, dir, "once"); n != 1 {
		t.Errorf("%d trials ended well, want 1", n)
	}
}

// The option cache keeps tunehost's program on the node. One that is damaged there is not used, and is replaced.
func testCache(t *testing.T, w *world) {
	text, err := os.ReadFile(w.tunehost)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() // the nodes are on this machine and have its files
	more, file := ", cache: "+dir, filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256(text)))
	inode := func() uint64 {
		var s syscall.Stat_t
		if err := syscall.Stat(file, &s); err != nil {
			t.Fatal(err)
		}
		return s.Ino
	}
	w.once(t, more)
	first := inode()
	w.once(t, more)
	if inode() != first {
		t.Error("the program was copied a second time")
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho damaged\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.once(t, more)
	if now, err := os.ReadFile(file); err != nil || sha256.Sum256(now) != sha256.Sum256(text) {
		t.Errorf("the program in the cache is still damaged: %d bytes, %v", len(now), err)
	}
}

// With the option program nothing is copied. An image without it is refused with its path, not waited for.
func testProgram(t *testing.T, w *world) {
	volume := `, template: {spec: {containers: [{name: trial, volumeMounts: [{name: opt, mountPath: /opt}]}],
		volumes: [{name: opt, hostPath: {path: "` + filepath.Dir(w.tunehost) + `"}}]}}`
	dir := w.file(t, "program", "trainable: {command: [sh, -c, 'test ! -e /tunehost/bin; "+
		"echo \"{{\\\"loss\\\": $?}}\"']}\ntrials: 1\nresources: {cpu: 0.1}\nexecutor: "+
		w.executor(", program: /opt/tunehost"+volume)+"\n")
	w.run(t, dir, "run", "e.yaml")
	out := w.run(t, dir, "trials", filepath.Join("results", "program"), "--json")
	if !strings.Contains(out, `"loss":0`) {
		t.Errorf("the program was copied:\n%s", out)
	}
	dir = w.file(t, "program", single+w.executor(", program: /opt/none")+"\n")
	said, err := w.command(dir, "run", "e.yaml").CombinedOutput()
	if err == nil || !strings.Contains(string(said), "the image has no program /opt/none (the option program)") {
		t.Errorf("%v\n%s", err, said)
	}
}

// What pods of trials with GPUs request, and what trials see of them: the names that the device plugin gives, or
// numbers.
func testGPUs(t *testing.T, w *world) {
	const resource = "nvidia.com/gpu"
	for _, c := range []struct{ more, want string }{
		{"", "0,1"},
		{`, template: {spec: {containers: [{name: trial,
			env: [{name: NVIDIA_VISIBLE_DEVICES, value: "GPU-aa,GPU-bb"}]}]}}`, "GPU-aa,GPU-bb"},
	} {
		dir := w.file(t, "gpus", `trainable:
  command: [sh, -c, 'echo "$CUDA_VISIBLE_DEVICES" >&2; echo "{{\"loss\": 1}}"; while :; do sleep 1; done']
trials: 1
resources: {cpu: 0.1, gpu: 2}
executor: `+w.executor(c.more)+"\n")
		host := w.start(t, dir, "run", "e.yaml")
		until(t, "a result", func() bool { return w.results(dir, "gpus") > 0 })
		has := w.pods(t)[0].Spec.Containers[0].Resources
		requests, limits := has.Requests[resource], has.Limits[resource]
		if requests.Value() != 2 || limits.Value() != 2 {
			t.Errorf("%q: the pod requests %v", c.more, has)
		}
		stop(host)
		logs, _ := filepath.Glob(filepath.Join(dir, "results", "gpus", "trials", "*", "stderr"))
		if text, err := os.ReadFile(logs[0]); err != nil || string(text) != c.want+"\n" {
			t.Errorf("%q: the trial has the GPUs %q, %v, want %s", c.more, text, err, c.want)
		}
		w.nothingLeft(t)
	}
}

// kueue is a gang as Kueue takes it: the test stands for Kueue, which adds the gate and takes it away.
const kueue = `, labels: {kueue.x-k8s.io/queue-name: lab, kueue.x-k8s.io/pod-group-name: "{lease}"},
  annotations: {kueue.x-k8s.io/pod-group-total-count: "{pods}"},
  template: {spec: {schedulingGates: [{name: kueue.x-k8s.io/admission}]}}`

// Labels and annotations of Kueue are what the API server stores, with one group for each lease; status says that
// pods wait for its admission, and trials start when all have it.
func testKueue(t *testing.T, w *world) {
	gang := strings.Replace(single, "resources: {cpu: 0.1}", "placement: {bundles: [{cpu: 0.1}, {cpu: 0.1}]}", 1)
	dir := w.file(t, "kueue", gang+w.executor(kueue)+"\n")
	host := w.start(t, dir, "run", "e.yaml")
	w.waits(t, dir, "kueue", "the pod has the scheduling gate kueue.x-k8s.io/admission")
	pods := w.pods(t)
	if len(pods) != 2 {
		t.Fatalf("%d pods, want 2", len(pods))
	}
	for _, p := range pods {
		queue, group := p.Labels["kueue.x-k8s.io/queue-name"], p.Labels["kueue.x-k8s.io/pod-group-name"]
		if queue != "lab" || group != p.Labels[leaseLabel] ||
			p.Annotations["kueue.x-k8s.io/pod-group-total-count"] != "2" {
			t.Errorf("the API server has the labels %v and the annotations %v", p.Labels, p.Annotations)
		}
		w.patch(t, "/api/v1/namespaces/default/pods/"+p.Name, `[{"op": "remove", "path": "/spec/schedulingGates"}]`)
	}
	if err := host.Wait(); err != nil {
		t.Error(err)
	}
}

// waits waits until status has a reason why leases wait.
func (w *world) waits(t testing.TB, dir, name, why string) {
	t.Helper()
	until(t, "status says: "+why, func() bool {
		out, _ := w.command(dir, "status", filepath.Join("results", name)).CombinedOutput()
		return strings.Contains(string(out), why)
	})
}

// A scheduler of the user's is left its pods: the test stands for Volcano, and binds the pod to a node.
func testVolcano(t *testing.T, w *world) {
	dir := w.file(t, "volcano", single+w.executor(`, template: {spec: {schedulerName: volcano}},
  annotations: {scheduling.volcano.sh/queue-name: lab}`)+"\n")
	host := w.start(t, dir, "run", "e.yaml")
	w.waits(t, dir, "volcano", "the scheduler volcano has not looked at the pod yet")
	p := w.pods(t)[0]
	if p.Spec.SchedulerName != "volcano" || p.Annotations["scheduling.volcano.sh/queue-name"] != "lab" {
		t.Errorf("the API server has the scheduler %s and the annotations %v", p.Spec.SchedulerName, p.Annotations)
	}
	w.post(t, "/api/v1/namespaces/default/pods/"+p.Name+"/binding", "{apiVersion: v1, kind: Binding, metadata: {name: "+
		p.Name+"}, target: {apiVersion: v1, kind: Node, name: n2}}")
	if err := host.Wait(); err != nil {
		t.Error(err)
	}
}

// testInside runs the host in a pod, with the service account and the Role of the documentation.
func testInside(t *testing.T, w *world) {
	w.account(t)
	dir := w.file(t, "inside", "trainable: {command: [echo, '{{\"loss\": 1}}']}\ntrials: 4\nconcurrency: 2\n"+
		"resources: {cpu: 0.1}\nexecutor: "+w.executor(", connection: dial")+"\n")
	server := strings.Split(strings.TrimPrefix(w.Server, "https://"), ":")
	var mounts, volumes []any
	for name, where := range map[string]string{"work": dir, "bin": filepath.Dir(w.tunehost), "config": w.config} {
		mounts = append(mounts, map[string]any{"name": name, "mountPath": where})
		volumes = append(volumes, map[string]any{"name": name, "hostPath": map[string]any{"path": where}})
	}
	env := func(name, value string) map[string]any { return map[string]any{"name": name, "value": value} }
	pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "host"},
		"spec": map[string]any{"serviceAccountName": "tunehost", "restartPolicy": "Never", "volumes": volumes,
			"containers": []any{map[string]any{"name": "host", "image": w.Image, "workingDir": dir,
				"command": []string{w.tunehost, "run", "e.yaml"}, "volumeMounts": mounts,
				// The cluster has no kube-proxy, so that the address of the service kubernetes leads nowhere.
				"env": []any{env("KUBERNETES_SERVICE_HOST", server[0]), env("KUBERNETES_SERVICE_PORT", server[1]),
					env("XDG_CONFIG_HOME", w.config)}}}}}
	text, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	w.post(t, "/api/v1/namespaces/ml/pods", string(text))
	ml := &cluster{client: w.api.client, namespace: "ml"}
	until(t, "the host's pod has ended", func() bool {
		p, err := ml.pod(t.Context(), "host")
		return err == nil && (p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed)
	})
	log, _ := w.api.client.Get().Namespace("ml").Resource("pods").Name("host").SubResource("log").DoRaw(t.Context())
	if n := w.ended(t, dir, "inside"); n != 4 {
		t.Errorf("%d trials ended well, want 4; the host said:\n%s", n, log)
	}
	list, err := ml.pods(t.Context(), managedBy+"=tunehost")
	if err != nil || len(list) > 0 {
		t.Errorf("%d pods are left, %v", len(list), err)
	}
	if err := ml.remove(t.Context(), "pods", "host", "", 0); err != nil {
		t.Error(err)
	}
}
