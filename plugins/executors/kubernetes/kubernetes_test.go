package main

import (
	"bytes"
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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/plugin/process"
	engine "github.com/tunehost/tunehost/internal/engines/kubernetes"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// world is a real cluster, with the programs of this checkout.
type world struct {
	*engine.Cluster
	api      *cluster
	tunehost string
	config   string // XDG_CONFIG_HOME, with the plugin
	// accounted: the namespace ml has the service account of the documentation
	accounted bool
}

// TestKubernetes starts one cluster for all tests, because that takes long. The last tests take nodes from it.
func TestKubernetes(t *testing.T) {
	w := &world{Cluster: engine.Start(t, engine.Options{})}
	config, err := clientcmd.BuildConfigFromFlags("", w.Config)
	if err != nil {
		t.Fatal(err)
	}
	if w.api, err = newCluster(config, "default"); err != nil {
		t.Fatal(err)
	}
	w.build(t)
	for _, one := range []struct {
		name string
		test func(*testing.T, *world)
	}{
		{"conformance", testConformance}, {"doctor", testDoctor}, {"quickstart", testQuickstart},
		{"example", testExample}, {"upload", testUpload}, {"cache", testCache}, {"program", testProgram},
		{"GPUs", testGPUs}, {"device plugin", testDevicePlugin}, {"Kueue", testKueue}, {"Volcano", testVolcano},
		{"inside", testInside}, {"rights", testRights}, {"refused", testRefused}, {"secrets", testSecrets},
		{"quota", testQuotaWaits}, {"gangs", testGangs}, {"preempted", testPreempted}, {"evicted", testEvicted},
		{"short pods", testShortPods}, {"deleted pod", testDeletedPod}, {"killed host", testKilledHost},
		{"abandoned", testAbandoned}, {"silent server", testSilentServer}, {"cut node", testCutNode},
		{"killed node", testKilledNode},
	} {
		t.Run(one.name, func(t *testing.T) {
			one.test(t, w)
			w.nothingLeft(t)
		})
	}
}

// build builds tunehost and the plugin, and puts the plugin where tunehost finds it.
func (w *world) build(t testing.TB) {
	t.Helper()
	dir := t.TempDir()
	w.tunehost, w.config = filepath.Join(dir, "tunehost"), filepath.Join(dir, "config")
	plugin := filepath.Join(w.config, "tunehost", "plugins", "kubernetes")
	if err := os.MkdirAll(plugin, 0o755); err != nil {
		t.Fatal(err)
	}
	goBuild(t, "../../..", w.tunehost, "./cmd/tunehost")
	goBuild(t, ".", filepath.Join(plugin, "tunehost-executor-kubernetes"), ".")
	text, err := os.ReadFile("executor/plugin.yaml")
	if err == nil {
		err = os.WriteFile(filepath.Join(plugin, "plugin.yaml"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func goBuild(t testing.TB, dir, to, pkg string) {
	t.Helper()
	cmd := osexec.Command("go", "build", "-o", to, pkg)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// executor is the executor in an experiment file, with more options.
func (w *world) executor(more string) string {
	return "{plugin: kubernetes, image: \"" + w.Image + "\"" + more + "}"
}

// command is a tunehost command.
func (w *world) command(dir string, args ...string) *osexec.Cmd {
	cmd := osexec.Command(w.tunehost, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+w.config)
	return cmd
}

// run runs a tunehost command that must succeed.
func (w *world) run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := w.command(dir, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("tunehost %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// start starts a host.
func (w *world) start(t testing.TB, dir string, args ...string) *osexec.Cmd {
	t.Helper()
	cmd := w.command(dir, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("tunehost %s:\n%s", strings.Join(args, " "), out.String())
		}
	})
	return cmd
}

// file writes an experiment file and returns its folder.
func (w *world) file(t testing.TB, name, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text = "version: 1\nname: " + name + "\nobjective: {metric: loss, mode: min}\n" +
		"space: {x: {uniform: [0, 1]}}\n" + text
	if err := os.WriteFile(filepath.Join(dir, "e.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// until waits for something that must happen.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not so within five minutes: ", what)
		}
	}
}

// pods are the pods of tunehost that exist.
func (w *world) pods(t testing.TB) []corev1.Pod {
	t.Helper()
	list, err := w.api.pods(context.Background(), managedBy+"=tunehost")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// running are the names of the pods that run.
func (w *world) running(t testing.TB) (names []string) {
	for _, p := range w.pods(t) {
		if p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

func (w *world) nothingLeft(t testing.TB) {
	t.Helper()
	until(t, "no pod is left", func() bool { return len(w.pods(t)) == 0 })
	until(t, "no Secret is left", func() bool {
		secrets, err := w.api.secrets(context.Background(), managedBy+"=tunehost")
		return err == nil && len(secrets) == 0
	})
}

// status is what status --json says of an experiment.
type status struct {
	Counts map[string]int
}

func (w *world) ended(t testing.TB, dir, name string) int {
	t.Helper()
	var s status
	out := w.run(t, dir, "status", filepath.Join("results", name), "--json")
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	return s.Counts["TERMINATED"]
}

// results is how many results an experiment has recorded.
func (w *world) results(dir, name string) int {
	out, _ := w.command(dir, "journal", filepath.Join("results", name)).Output()
	return strings.Count(string(out), "result reported")
}

func testConformance(t *testing.T, w *world) {
	plugin := filepath.Join(w.config, "tunehost", "plugins", "kubernetes", "tunehost-executor-kubernetes")
	c := process.Config{Program: process.Program{Kind: sdk.KindExecutor, Name: "kubernetes", Path: plugin,
		Env: []string{"KUBECONFIG=" + w.Config}}}
	// The suite's agents write to a folder of this machine. A GPU has a UUID, as with NVIDIA's plugin: numbers are
	// those of a pod, and two pods on one node have the same.
	shared := fmt.Sprintf(`{"spec": {
		"containers": [{"name": "trial", "volumeMounts": [{"name": "shared", "mountPath": %q}], "env": [
			{"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
			{"name": "NVIDIA_VISIBLE_DEVICES", "value": "GPU-$(POD)"}]}],
		"volumes": [{"name": "shared", "hostPath": {"path": %[1]q}}]}}`, os.TempDir())
	conformance.RunAll(t, sdk.KindExecutor, conformance.Process(c), conformance.Options{Short: true,
		Options: []byte(`{"image": "` + w.Image + `", "template": ` + shared + `}`)})
	for _, p := range w.pods(t) { // checks leave leases behind, as hosts that are killed do
		if err := w.api.remove(t.Context(), "pods", p.Name, p.UID, soonest); err != nil {
			t.Error(err)
		}
	}
}

func testDoctor(t *testing.T, w *world) {
	for _, way := range []string{"exec", "dial"} {
		out := w.run(t, t.TempDir(), "doctor", "--executor", w.executor(", connection: "+way))
		if strings.Contains(out, "BAD") || !strings.Contains(out, "2 nodes") {
			t.Errorf("doctor with connection: %s:\n%s", way, out)
		}
	}
}

// B-136: the same seed, one trial at a time, makes the same suggestions and finds the same best in pods as here.
func testQuickstart(t *testing.T, w *world) {
	quickstart, err := filepath.Abs("../../../examples/quickstart/experiment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	learned := func(more ...string) (text string) {
		dir := t.TempDir()
		w.run(t, dir, append([]string{"run", quickstart, "--storage", dir, "--set", "trials=4",
			"--set", "concurrency=1"}, more...)...)
		for line := range strings.Lines(w.run(t, dir, "trials", filepath.Join(dir, "quickstart"), "--json")) {
			var trial struct {
				Number    int
				State     string
				Params    map[string]any
				Metrics   map[string]float64
				Iteration int
			}
			if err := json.Unmarshal([]byte(line), &trial); err != nil {
				t.Fatal(err)
			}
			text += fmt.Sprintln(trial)
		}
		return text
	}
	here := learned()
	for _, more := range []string{"", ", connection: dial"} {
		if there := learned("--set", "executor="+w.executor(more)); there != here {
			t.Errorf("in pods%s:\n%s\nhere:\n%s", more, there, here)
		}
	}
}

// testExample runs the experiments of examples/kubernetes, with the image of this cluster.
func testExample(t *testing.T, w *world) {
	for _, name := range []string{"kubernetes/trials.yaml", "kubernetes/gang.yaml"} {
		file, err := filepath.Abs(filepath.Join("../../../examples", name))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		w.run(t, dir, "run", file, "--storage", filepath.Join(dir, "results"), "--set", "executor.image="+w.Image)
		if n := w.ended(t, dir, strings.NewReplacer("/", "-", ".yaml", "").Replace(name)); n != 4 {
			t.Errorf("%s: %d trials ended well, want 4", name, n)
		}
	}
}

// create creates an object.
func (w *world) create(t testing.TB, resource string, object any) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.api.client.Post().AbsPath("/api/v1/"+resource).SetHeader("Content-Type", "application/json").Body(text).
		Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
}

// B-135: what the API server or the scheduler says reaches the user, in one line.
func testRefused(t *testing.T, w *world) {
	for name, c := range map[string]struct{ request, more, want string }{
		"invalid":   {"{cpu: 0.1, no_such_thing: 1}", "", "no_such_thing"},
		"namespace": {"{cpu: 0.1}", ", namespace: nowhere", `namespaces "nowhere" not found`},
	} {
		dir := w.file(t, "refused", "trainable: {command: [echo, '{{\"loss\": 1}}']}\ntrials: 1\nresources: "+c.request+
			"\nexecutor: "+w.executor(c.more)+"\n")
		out, err := w.command(dir, "run", "e.yaml").CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	dir := w.file(t, "waits", "trainable: {command: [echo, '{{\"loss\": 1}}']}\ntrials: 1\n"+
		"resources: {cpu: 1000}\nexecutor: "+w.executor("")+"\n")
	host := w.start(t, dir, "run", "e.yaml")
	until(t, "status has the scheduler's words", func() bool {
		out, _ := w.command(dir, "status", filepath.Join("results", "waits")).CombinedOutput()
		return strings.Contains(string(out), "Insufficient cpu")
	})
	_ = host.Process.Signal(syscall.SIGINT)
	_ = host.Wait()
}

// The agent's secret is in a Secret alone: not in a pod, an event or a log.
func testSecrets(t *testing.T, w *world) {
	dir := w.file(t, "secrets", "trainable: {command: [sh, -c, 'env; cat /proc/1/cmdline; while :; do "+
		"echo \"{{\\\"loss\\\": 1}}\"; sleep 0.2; done']}\ntrials: 1\n"+
		"resources: {cpu: 0.1}\nexecutor: "+w.executor("")+"\n")
	host := w.start(t, dir, "run", "e.yaml")
	until(t, "a result", func() bool { return w.results(dir, "secrets") > 0 })
	secrets, err := w.api.secrets(t.Context(), managedBy+"=tunehost")
	if err != nil || len(secrets) != 1 {
		t.Fatalf("%d Secrets, %v, want 1", len(secrets), err)
	}
	value := string(secrets[0].Data[key])
	if len(value) < 50 || len(secrets[0].OwnerReferences) != 1 {
		t.Errorf("a Secret of %d bytes with the owners %v", len(value), secrets[0].OwnerReferences)
	}
	var seen strings.Builder
	pods, err := json.Marshal(w.pods(t))
	if err != nil {
		t.Fatal(err)
	}
	seen.Write(pods)
	for _, path := range []string{"events", "pods/" + w.pods(t)[0].Name + "/log"} {
		text, err := w.api.client.Get().Namespace("default").Suffix(strings.Split(path, "/")...).DoRaw(t.Context())
		if err != nil {
			t.Fatal(path, err)
		}
		seen.Write(text)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "results", "secrets", "trials", "*", "std*"))
	for _, name := range append(files, filepath.Join(dir, "results", "secrets", "host.log")) {
		text, _ := os.ReadFile(name)
		seen.Write(text)
	}
	if !strings.Contains(seen.String(), "TUNEHOST_") || strings.Contains(seen.String(), value[:40]) {
		t.Errorf("the agent's secret is in what others see:\n%s", seen.String())
	}
	if strings.Contains(seen.String(), "/var/run/secrets/kubernetes.io") {
		t.Error("trials have the token of a service account")
	}
	_ = host.Process.Signal(syscall.SIGINT)
	_ = host.Wait()
}

// A quota that other pods have used up is waited for.
func testQuotaWaits(t *testing.T, w *world) {
	w.create(t, "namespaces", map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": "small"}})
	w.create(t, "namespaces/small/resourcequotas", map[string]any{"apiVersion": "v1", "kind": "ResourceQuota",
		"metadata": map[string]any{"name": "q"}, "spec": map[string]any{"hard": map[string]any{"pods": "1"}}})
	until(t, "the namespace has its quota and its service account", func() bool {
		q, err := w.api.client.Get().AbsPath("/api/v1/namespaces/small/resourcequotas/q").DoRaw(t.Context())
		account := w.api.client.Get().AbsPath("/api/v1/namespaces/small/serviceaccounts/default").Do(t.Context())
		return err == nil && bytes.Contains(q, []byte(`"used"`)) && account.Error() == nil
	})
	dir := w.file(t, "quota", "trainable: {command: [echo, '{{\"loss\": 1}}']}\ntrials: 3\nconcurrency: 2\n"+
		"resources: {cpu: 0.1}\nexecutor: "+w.executor(", namespace: small, within: 1")+"\n")
	w.run(t, dir, "run", "e.yaml")
	if n := w.ended(t, dir, "quota"); n != 3 {
		t.Errorf("%d trials ended well, want 3", n)
	}
	list, err := (&cluster{client: w.api.client, namespace: "small"}).pods(t.Context(), managedBy)
	if err != nil || slices.ContainsFunc(list, func(p corev1.Pod) bool { return p.DeletionTimestamp == nil }) {
		t.Errorf("pods are left in the other namespace: %v %v", list, err)
	}
}

// Two gangs of three pods with a GPU each, on four GPUs: Kubernetes' scheduler alone can give each of them two.
func testGangs(t *testing.T, w *world) {
	var hosts []*osexec.Cmd
	var dirs []string
	for i := range 2 {
		name := fmt.Sprint("gang", i)
		dir := w.file(t, name, "trainable:\n  command: [sh, -c, 'echo \"$RANK of $WORLD_SIZE\" >&2; [ $RANK != 0 ] || "+
			"echo \"{{\\\"loss\\\": 1}}\"']\ntrials: 2\nconcurrency: 1\nplacement: {bundles: [{cpu: 0.1, gpu: 1}, "+
			"{cpu: 0.1, gpu: 1}, {cpu: 0.1, gpu: 1}], strategy: spread, workers: true}\n"+
			"executor: "+w.executor(", within: 2")+"\n")
		dirs = append(dirs, dir)
		hosts = append(hosts, w.start(t, dir, "run", "e.yaml"))
	}
	for i, host := range hosts {
		if err := host.Wait(); err != nil {
			t.Errorf("gang %d: %v", i, err)
		}
		if n := w.ended(t, dirs[i], fmt.Sprint("gang", i)); n != 2 {
			t.Errorf("gang %d: %d trials ended well, want 2", i, n)
		}
	}
}

// endless has trials that print a result now and then until they are stopped.
const endless = `trainable: {command: [sh, -c, 'while :; do echo "{{\"loss\": 1}}"; sleep 0.2; done']}
trials: 2
concurrency: 2
failures: {retries: 0}
resources: {cpu: 0.1}
executor: `

// B-134: a host that is killed takes its pods back; when it is interrupted, none is left.
func testKilledHost(t *testing.T, w *world) {
	dir := w.file(t, "endless", endless+w.executor("")+"\n")
	first := w.start(t, dir, "run", "e.yaml")
	until(t, "results in two pods", func() bool { return len(w.running(t)) == 2 && w.results(dir, "endless") > 4 })
	before, had := w.running(t), w.results(dir, "endless")
	_ = first.Process.Kill()
	_ = first.Wait()
	second := w.start(t, dir, "resume", filepath.Join("results", "endless"))
	until(t, "results after a kill", func() bool { return w.results(dir, "endless") > had+8 })
	if now := w.running(t); !slices.Equal(now, before) {
		t.Errorf("the pods are %v after the kill, and were %v", now, before)
	}
	_ = second.Process.Signal(syscall.SIGINT)
	_ = second.Wait()
}

// B-133: a trial whose pod an administrator deletes goes on in another one, and uses up no retry.
func testDeletedPod(t *testing.T, w *world) {
	dir := w.file(t, "deleted", endless+w.executor(", notice: 5")+"\n")
	host := w.start(t, dir, "run", "e.yaml")
	until(t, "results in two pods", func() bool { return len(w.running(t)) == 2 && w.results(dir, "deleted") > 4 })
	before := w.running(t)
	if err := w.api.client.Delete().Namespace("default").Resource("pods").Name(before[0]).
		Body(&metav1.DeleteOptions{}).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	until(t, "another pod", func() bool {
		now := w.running(t)
		return len(now) == 2 && !slices.Contains(now, before[0])
	})
	had := w.results(dir, "deleted")
	until(t, "results of it", func() bool { return w.results(dir, "deleted") > had+8 })
	_ = host.Process.Signal(syscall.SIGINT)
	_ = host.Wait()
}

// B-133: the trials of a node that dies go on elsewhere, without a retry.
func testKilledNode(t *testing.T, w *world) {
	dir := w.file(t, "node", strings.ReplaceAll(endless, "cpu: 0.1", "cpu: 0.1, gpu: 1")+w.executor("")+"\n")
	host := w.start(t, dir, "run", "e.yaml")
	until(t, "results in two pods", func() bool { return len(w.running(t)) == 2 && w.results(dir, "node") > 4 })
	victim := w.pods(t)[0].Spec.NodeName
	on := func(node string) (n int) {
		for _, p := range w.pods(t) {
			if p.Spec.NodeName == node && p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning {
				n++
			}
		}
		return n
	}
	other := map[string]string{"n1": "n2", "n2": "n1"}[victim]
	w.Kill(t, victim)
	until(t, "both trials on the other node", func() bool { return on(other) == 2 })
	had := w.results(dir, "node")
	until(t, "results there", func() bool { return w.results(dir, "node") > had+8 })
	_ = host.Process.Signal(syscall.SIGINT)
	_ = host.Wait()
	w.gone(t, victim)
}

// gone removes a node, as an administrator does with one that is lost: its pods go with it.
func (w *world) gone(t testing.TB, node string) {
	t.Helper()
	if err := w.api.client.Delete().AbsPath("/api/v1/nodes/" + node).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	for _, p := range w.pods(t) {
		if p.Spec.NodeName == node {
			if err := w.api.remove(t.Context(), "pods", p.Name, p.UID, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
}
