package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tunehost/tunehost/plugins/sdk"
)

const secretValue = "c2VjcmV0IG9mIHRoZSBhZ2VudA"

// offline is an executor that talks to no cluster.
func offline(t testing.TB, text string) *executor {
	t.Helper()
	o, err := read([]byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	x := sdk.Execution{Prefix: "th-1-", Agent: &sdk.Agent{Path: "/bin/tunehost", SHA256: "00"}}
	return newExecutor(x, o, &cluster{namespace: "ml"}, func(...sdk.LeaseEvent) {})
}

func request(bundles int, strategy string, amounts ...sdk.Amount) *sdk.LeaseRequest {
	r := &sdk.LeaseRequest{Lease: "th-1-7", Strategy: strategy, Agent: secretValue}
	for range bundles {
		r.Bundles = append(r.Bundles, amounts)
	}
	return r
}

// What the user says in the template stays, and what tunehost needs is there; the agent's secret is not.
func TestPod(t *testing.T) {
	e := offline(t, `{"image": "python:3.12", "labels": {"kueue.x-k8s.io/queue-name": "lab",
		"kueue.x-k8s.io/pod-group-name": "{lease}"}, "annotations": {"group": "{pods} of {lease}"}, "time": 3600,
		"node_selector": {"pool": "gpu"}, "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
		"template": {"spec": {"schedulerName": "volcano", "tolerations": [{"key": "spot", "operator": "Exists"}],
			"nodeSelector": {"zone": "a"}, "imagePullSecrets": [{"name": "registry"}],
			"containers": [{"name": "trial", "image": "other", "env": [{"name": "MODE", "value": "fast"}],
				"resources": {"limits": {"cpu": "2"}}},
				{"name": "sidecar", "image": "side"}]}}}`)
	p, err := e.pod(request(2, strictSpread, sdk.Amount{Name: "cpu", Value: 0.5}, sdk.Amount{Name: "gpu", Value: 1},
		sdk.Amount{Name: "memory", Value: 1 << 30}), 1)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(p)
	for _, want := range []string{`"name":"th-1-7-1"`, `"kueue.x-k8s.io/queue-name":"lab"`, `"schedulerName":"volcano"`,
		`"kueue.x-k8s.io/pod-group-name":"th-1-7"`, `"group":"2 of th-1-7"`,
		`"image":"python:3.12"`, `"name":"MODE","value":"fast"`, `"name":"sidecar"`, `"activeDeadlineSeconds":3600`,
		`"limits":{"cpu":"2","memory":"1Gi","nvidia.com/gpu":"1"}`,
		`"requests":{"cpu":"500m","memory":"1Gi","nvidia.com/gpu":"1"}`, `"zone":"a"`, `"pool":"gpu"`, `"key":"spot"`,
		`"key":"nvidia.com/gpu"`, `"imagePullSecrets":[{"name":"registry"}]`, `"automountServiceAccountToken":false`,
		`"podAntiAffinity":{"requiredDuring`, `"restartPolicy":"Never"`,
		`"secretKeyRef":{"name":"th-1-7","key":"agent"}`, `"tunehost.io/pods":"2"`, `"namespace":"ml"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in the pod:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), secretValue) {
		t.Errorf("the agent's secret is in the pod:\n%s", text)
	}
}

// Options that would undo what the executor does, or that are wrong, are refused in one line.
func TestOptions(t *testing.T) {
	for text, want := range map[string]string{
		`{"labels": {"tunehost.io/lease": "x"}}`:              "tunehost sets this one itself",
		`{"labels": {"a b": "x"}}`:                            "a label",
		`{"template": {"kind": "Deployment"}}`:                "not a Deployment",
		`{"template": {"spec": {"contaners": []}}}`:           `: a pod: unknown field "contaners"`,
		`{"template": "/no/such/pod.yaml"}`:                   "no such file",
		`{"tolerations": [{"keys": "x"}]}`:                    "keys",
		`{"program": "bin/tunehost"}`:                         "absolute",
		`{"program": "/bin/tunehost", "cache": "/var/cache"}`: "nothing is copied",
		`{"time": 10}`:               "at least 60",
		`{"time": 60, "notice": 60}`: "less than time",
		`{"imagee": "x"}`:            "imagee",
		`{"labels": {"app.kubernetes.io/managed-by": "me"}}`:         "itself",
		`{"labels": {"ok": "` + strings.Repeat("x", 64) + `"}}`:      "a label",
		`{"template": {"spec": {"containers": "none"}, "kind": ""}}`: "a pod",
		`{"image": "x", "annotations": {"tunehost.io/pods": "9"}}`:   "itself",
		`{}`: "the image of trials",
		`{"template": {"spec": {"containers": [{"name": "sidecar", "image": "x"}]}}}`: "the image of trials",
	} {
		_, err := read([]byte(text), "")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", text, err, want)
		}
	}
}

// What the template says is checked as the options are.
func TestOptionsBesideTheTemplate(t *testing.T) {
	for text, want := range map[string]string{
		`"template": {"spec": {"activeDeadlineSeconds": 25}}`: `option "template" is ` +
			`{"spec":{"activeDeadlineSeconds":25}}; allowed: activeDeadlineSeconds of at least 60, and not 25`,
		`"template": {"spec": {"activeDeadlineSeconds": 90}}, "notice": 100`: `option "notice" is 100; allowed: less ` +
			`than activeDeadlineSeconds of the template, which is 90`,
		`"template": {"spec": {"activeDeadlineSeconds": 25}}, "time": 90`: "",
		`"template": {"metadata": {"namespace": "ml"}}, "namespace": "lab"`: `option "namespace" is "lab"; allowed: ` +
			`ml, which the template has as metadata.namespace; leave one of them out`,
	} {
		if _, err := read([]byte(`{"image": "x", `+text+`}`), ""); err == nil && want != "" ||
			err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// The image may be in the template, and a file below the home directory.
func TestOptionsOfTheUser(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.WriteFile(filepath.Join(home, "pod.yaml"),
		[]byte(`{spec: {containers: [{name: trial, image: "python:3.12"}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := read([]byte(`{"template": "~/pod.yaml"}`), "")
	if err != nil || o.template.Spec.Containers[0].Image != "python:3.12" {
		t.Errorf("%v %+v", err, o.template.Spec)
	}
}

// The namespace may be in the template, as in a file for kubectl.
func TestNamespaceOfTheTemplate(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config")
	text := strings.NewReplacer("SERVER", "https://127.0.0.1:1", "CURRENT", "down", "cluster: down,",
		"cluster: down, namespace: own,").Replace(kubeconfig)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const ml = `, "template": {"metadata": {"name": "x", "namespace": "ml"}}`
	for more, want := range map[string]string{"": "own", `, "namespace": "lab"`: "lab", ml: "ml",
		ml + `, "namespace": "ml"`: "ml"} {
		o, err := read([]byte(`{"image": "x", "kubeconfig": "`+config+`"`+more+`}`), "")
		if err != nil {
			t.Fatal(err)
		}
		c, err := connect(&o)
		if err != nil || c.namespace != want {
			t.Errorf("%s: the namespace %q, %v, want %s", more, c.namespace, err, want)
		}
	}
}

// The template of pods may limit their time, and arguments of its container do not get to tunehost's command.
func TestTemplateBelow(t *testing.T) {
	e := offline(t, `{"image": "x", "template": {"spec": {"activeDeadlineSeconds": 90, "containers": [
		{"name": "trial", "command": ["mine"], "args": ["9"]}, {"name": "sidecar", "image": "x", "args": ["8"]}]}}}`)
	p, err := e.pod(request(1, pack), 0)
	if err != nil {
		t.Fatal(err)
	}
	of := p.Spec.Containers
	if len(of) != 2 || len(of[0].Args) != 0 || of[0].Command[0] != "sh" || len(of[1].Args) != 1 {
		t.Errorf("%+v", of)
	}
	var why string
	e.tell = func(events ...sdk.LeaseEvent) { why = events[0].Why }
	e.untilEnd(e.newLease("th-1-7", nil, 1), []state{{stage: running, until: e.now().Add(time.Second)}})
	if why != "the pod's time ends (activeDeadlineSeconds of the template)" {
		t.Error(why)
	}
}

// Amounts that no API server can read are refused before.
func TestAmounts(t *testing.T) {
	e := offline(t, `{"image": "x", "memory_gib": 2}`)
	if _, err := e.pod(request(1, pack, sdk.Amount{Name: "cpu", Value: 1e300}), 0); err == nil {
		t.Error("a pod with 1e300 CPUs")
	}
	p, err := e.pod(request(1, pack, sdk.Amount{Name: "gpu", Value: 0.5}), 0)
	if err != nil {
		t.Fatal(err)
	}
	limits := p.Spec.Containers[0].Resources.Limits
	if gpu := limits["nvidia.com/gpu"]; gpu.Value() != 1 {
		t.Errorf("half a GPU is %v GPUs", gpu.String())
	}
	if memory := limits[corev1.ResourceMemory]; memory.Value() != 2<<30 {
		t.Errorf("memory_gib: %v", memory.String())
	}
}

func stateOfText(t testing.TB, text string) state {
	t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	if err := json.Unmarshal([]byte(text), p); err != nil {
		t.Fatal(err)
	}
	return stateOf(p)
}

// States of pods, and what is said of them.
func TestStates(t *testing.T) {
	status := func(text string) string { return `{"spec": {"nodeName": "n1"}, "status": {` + text + `}}` }
	waits := func(reason string) string {
		return status(`"phase": "Pending", "containerStatuses": [{"name": "trial", "state": {"waiting": {"reason": "` +
			reason + `", "message": "it says so"}}}]`)
	}
	ended := func(reason, message string) string {
		return status(`"phase": "Failed", "containerStatuses": [{"name": "trial",
			"state": {"terminated": {"reason": "` + reason + `", "exitCode": 1, "message": "` + message + `"}}}]`)
	}
	for _, c := range []struct {
		pod   string
		stage stage
		why   string
	}{
		{`{}`, waiting, "no scheduler has looked"},
		{`{"status": {"conditions": [{"type": "PodScheduled", "status": "False", 
			"message": "0/4 nodes\nare available"}]}}`, waiting, "Kubernetes: 0/4 nodes are available"},
		{`{"spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}}`, waiting, "kueue.x-k8s.io/admission"},
		{status(`"phase": "Pending"`), bound, "being created on n1"},
		{waits("ImagePullBackOff"), bound, "ImagePullBackOff: it says so"},
		{waits("InvalidImageName"), never, "InvalidImageName: it says so"},
		{status(`"phase": "Running", "containerStatuses": [{"name": "trial", "state": {"running": {}}}]`), running, ""},
		{status(`"phase": "Running", "containerStatuses": [{"name": "trial", "state": {"terminated": {"reason": "Error",
			"exitCode": 3}}}, {"name": "sidecar", "state": {"running": {}}}]`), over, "exit code 3"},
		{status(`"phase": "Failed", "reason": "Evicted", "message": "low on memory"`), over, "Evicted: low on memory"},
		{ended("OOMKilled", ""), over, "request more"},
		{ended("Error", `one\ntwo`), over, "its last words: two"},
		{ended("StartError", "no sh"), never, "no sh; the image needs a shell"},
		{strings.Replace(ended("Error", "no program"), `"exitCode": 1`, `"exitCode": 127`, 1), never, "no program"},
		{status(`"phase": "Running", "containerStatuses": [{"name": "trial", "state": {"terminated": {"reason": "Error",
			"exitCode": 126, "message": "Exec format error"}}}]`), never, "Exec format error"},
		{status(`"phase": "Pending", "initContainerStatuses": [{"name": "fetch", "state": {"waiting": {
			"reason": "ErrImagePull", "message": "no such image"}}}], "containerStatuses": [{"name": "trial",
			"state": {"waiting": {"reason": "PodInitializing"}}}]`), bound,
			"on n1: the container fetch: ErrImagePull: no such image"},
		{status(`"phase": "Pending", "initContainerStatuses": [{"name": "fetch", "state": {"waiting": {
			"reason": "InvalidImageName", "message": "bad"}}}]`), never, "the container fetch: InvalidImageName: bad"},
		{status(`"phase": "Failed", "initContainerStatuses": [{"name": "fetch", "state": {"terminated": {
			"reason": "Error", "exitCode": 2, "message": "no data"}}}], "containerStatuses": [{"name": "trial",
			"state": {"waiting": {"reason": "PodInitializing"}}}]`), over,
			"the container fetch of the pod p has ended: Error, exit code 2; its last words: no data"},
		{`{"spec": {"schedulerName": "volcano"}}`, waiting, "the scheduler volcano has not looked"},
		{`{"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"nodeName": "n1"}}`, ending,
			"deleted by somebody else"},
		{`{"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"conditions": [
			{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
			"message": "for a pod with priority"}]}}`, ending,
			"(PreemptionByScheduler): for a pod with priority"},
	} {
		s := stateOfText(t, c.pod)
		if s.stage != c.stage || !strings.Contains(s.why, c.why) || c.why == "" && s.why != "" ||
			strings.Contains(s.why, "\n") {
			t.Errorf("%s: %d %q, want %d %q", c.pod, s.stage, s.why, c.stage, c.why)
		}
	}
}

// A quota that has room for the request when others have ended is waited for. One that has no room for all pods of a
// lease never has.
func TestQuota(t *testing.T) {
	e := offline(t, `{"image": "x", "template": {"spec": {"containers": [{"name": "sidecar", "image": "x",
		"resources": {"requests": {"cpu": "1"}}}]}}}`)
	const exceeded = `pods "x" is forbidden: exceeded quota: q, `
	for _, c := range []struct {
		text       string
		pods       int
		beyond, ok bool
	}{
		{exceeded + `requested: pods=1, used: pods=4, limited: pods=4`, 4, false, true},
		{exceeded + `requested: pods=1, used: pods=4, limited: pods=4`, 5, true, true},
		{exceeded + `requested: requests.memory=8Gi,pods=1, used: requests.memory=0,pods=0, ` +
			`limited: requests.memory=4Gi,pods=9`, 1, true, true},
		{exceeded + `requested: requests.cpu=3, used: requests.cpu=3, limited: requests.cpu=6`, 2, false, true},
		{exceeded + `requested: cpu=3, used: cpu=3, limited: cpu=5`, 2, true, true},
		{exceeded + `requested: limits.memory=1Gi, used: limits.memory=1Gi, limited: limits.memory=2Gi`, 3, true, true},
		{`pods "x" is forbidden: violates PodSecurity`, 9, false, false},
	} {
		r := request(c.pods, spread, sdk.Amount{Name: "cpu", Value: 2}, sdk.Amount{Name: "memory", Value: 1 << 30})
		beyond, ok := beyondQuota(c.text, func(name string) resource.Quantity { return e.wanted(r, name) })
		if beyond != c.beyond || ok != c.ok {
			t.Errorf("%s, of %d pods: %t %t, want %t %t", c.text, c.pods, beyond, ok, c.beyond, c.ok)
		}
	}
}

// Bundles of a lease lie as the strategy says.
func TestAffinity(t *testing.T) {
	for strategy, want := range map[string]string{
		pack:         `{"podAffinity":{"preferred`,
		spread:       `{"podAntiAffinity":{"preferred`,
		strictSpread: `{"podAntiAffinity":{"required`,
	} {
		if text, _ := json.Marshal(affinity(request(2, strategy))); !strings.HasPrefix(string(text), want) {
			t.Errorf("%s: %s", strategy, text)
		}
	}
	if affinity(request(1, strictSpread)) != nil {
		t.Error("a single bundle has an affinity")
	}
	e := offline(t, `{"image": "x"}`)
	r := request(3, strictPack, sdk.Amount{Name: "cpu", Value: 0.5}, sdk.Amount{Name: "gpu", Value: 1})
	p, err := e.pod(r, 0)
	if err != nil || len(groups(r)) != 1 || p.Spec.Affinity != nil || p.Annotations[gpusNote] != "1,1,1" {
		t.Fatalf("strict_pack: %d pods, %v, %+v", len(groups(r)), err, p)
	}
	has := p.Spec.Containers[0].Resources.Requests
	if cpu, gpu := has[corev1.ResourceCPU], has["nvidia.com/gpu"]; cpu.MilliValue() != 1500 || gpu.Value() != 3 {
		t.Errorf("strict_pack: %v", has)
	}
}

// B-135: a pod that does not run long after it got its node names the command that says why.
func TestLongStart(t *testing.T) {
	e := offline(t, `{"image": "x"}`)
	now := time.Unix(1000, 0)
	e.now = func() time.Time { return now }
	l := e.newLease("th-1-7", nil, 1)
	l.created = now.Add(-time.Hour) // it has waited for a node
	var why string
	e.tell = func(events ...sdk.LeaseEvent) { why = events[0].Why }
	e.starts(l, "it is being created")
	if strings.Contains(why, "kubectl") {
		t.Errorf("at once: %s", why)
	}
	now = now.Add(longStart + time.Second)
	e.starts(l, "it is being created")
	if !strings.Contains(why, "`kubectl get events -n ml` may say more") {
		t.Errorf("later: %s", why)
	}
}

// B-135: while the program is copied into a pod that runs, it is not said to be created.
func TestCopyingIsSaid(t *testing.T) {
	e := offline(t, `{"image": "x"}`)
	l := e.newLease("th-1-7", nil, 1)
	l.uids[0] = "1"
	l.end() // nothing is copied
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "1", Annotations: map[string]string{gpusNote: "0"}}}
	e.pods.put(p, false)
	var why string
	e.tell = func(events ...sdk.LeaseEvent) { why = events[0].Why }
	e.starts(l, "it is being created")
	e.runs(l, []state{{stage: running}})
	e.following.Wait()
	if !strings.Contains(why, "is being copied") {
		t.Errorf("the lease waits: %s", why)
	}
}

// B-130: a lease of which some pods wait and others have a node is given up after the time within, and not before.
func TestPartlyBound(t *testing.T) {
	e := offline(t, `{"image": "x", "within": 10}`)
	now := time.Unix(1000, 0)
	e.now = func() time.Time { return now }
	l := e.newLease("th-1-7", nil, 2) // adopted: it is lost, and no pod is created again
	e.leases[l.name] = l
	var told []sdk.LeaseEvent
	e.tell = func(events ...sdk.LeaseEvent) { told = append(told, events...) }
	e.waits(l, "no room", false)
	now = now.Add(time.Hour)
	e.waits(l, "no room", true)
	now = now.Add(9 * time.Second)
	e.waits(l, "no room", true)
	if e.leases[l.name] == nil || len(told) != 1 || told[0].Kind != sdk.LeasePending {
		t.Fatalf("given up too early: %v", told)
	}
	now = now.Add(time.Second)
	e.x.Agent = nil // no Secret to delete
	e.waits(l, "no room", true)
	if len(told) != 2 || told[1].Kind != sdk.LeaseLost {
		t.Fatalf("not given up: %v", told)
	}
}
