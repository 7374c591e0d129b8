package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// The labels and annotations of pods and secrets.
const (
	domain     = "tunehost.io/"
	experiment = domain + "experiment" // the prefix of the leases, without the last dash
	leaseLabel = domain + "lease"
	podLabel   = domain + "pod"  // its number, from 0
	podsNote   = domain + "pods" // how many the lease has
	gpusNote   = domain + "gpus" // how many each of the pod's bundles has
	managedBy  = "app.kubernetes.io/managed-by"
)

// container is the name of the container of trials; folder is where the agent's program goes, and key its
// secret's.
const (
	container = "trial"
	folder    = "/tunehost"
	cached    = "/tunehost-cache"
	key       = "agent"
)

// The strategies of a request.
const (
	pack         = "pack"
	spread       = "spread"
	strictPack   = "strict_pack"
	strictSpread = "strict_spread"
)

// podName is the name of a pod of a lease.
func podName(lease string, number int) string { return lease + "-" + strconv.Itoa(number) }

// groups are the bundles of each pod of a lease. Bundles that must lie on one node share a pod: the scheduler
// gives it all or nothing, and processes in it see all of its GPUs. Else each has its own.
func groups(r *sdk.LeaseRequest) (list [][]int) {
	if r.Strategy == strictPack && len(r.Bundles) > 1 {
		list = [][]int{nil}
		for i := range r.Bundles {
			list[0] = append(list[0], i)
		}
		return list
	}
	for i := range r.Bundles {
		list = append(list, []int{i})
	}
	return list
}

// labels are those of all objects of a lease.
func labels(prefix, lease string) map[string]string {
	return map[string]string{experiment: labelOf(prefix), leaseLabel: lease, managedBy: "tunehost"}
}

// labelOf is the value of the label experiment. Values do not end in a dash.
func labelOf(prefix string) string { return strings.TrimRight(prefix, "-") }

func selector(prefix string) string { return experiment + "=" + labelOf(prefix) }

// pod builds a pod of a lease: the user's template, with what tunehost needs on top.
func (e *executor) pod(r *sdk.LeaseRequest, number int) (*corev1.Pod, error) {
	all := groups(r)
	requests, limits, err := e.resources(r, all[number])
	if err != nil {
		return nil, err
	}
	var gpus []string
	for _, i := range all[number] {
		gpus = append(gpus, strconv.Itoa(int(math.Ceil(r.Bundles[i].Get("gpu")))))
	}
	p := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: podName(r.Lease, number), Labels: labels(e.x.Prefix, r.Lease),
			Annotations: map[string]string{podsNote: strconv.Itoa(len(all)), gpusNote: strings.Join(gpus, ",")}},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, NodeSelector: e.NodeSelector,
			ServiceAccountName: e.ServiceAccount, TerminationGracePeriodSeconds: new(int64(math.Ceil(e.Notice))),
			Affinity: affinity(r),
			Containers: []corev1.Container{{Name: container, Image: e.Image, Command: e.command(all[number]),
				Env:                      e.environment(r),
				Resources:                corev1.ResourceRequirements{Requests: requests, Limits: limits},
				VolumeMounts:             []corev1.VolumeMount{{Name: "tunehost", MountPath: folder}},
				TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError}},
			Volumes: []corev1.Volume{{Name: "tunehost", VolumeSource: corev1.VolumeSource{
				EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		},
	}
	p.Labels[podLabel] = strconv.Itoa(number)
	e.furnish(p)
	return e.merged(p)
}

// furnish adds what only some pods have.
func (e *executor) furnish(p *corev1.Pod) {
	if len(e.tolerations) > 0 { // the lists are not merged
		p.Spec.Tolerations = slices.Concat(e.template.Spec.Tolerations, e.tolerations)
	}
	of := strings.NewReplacer("{lease}", p.Labels[leaseLabel], "{pods}", p.Annotations[podsNote])
	for name, value := range e.Labels {
		p.Labels[name] = of.Replace(value)
	}
	for name, value := range e.Annotations {
		p.Annotations[name] = of.Replace(value)
	}
	if e.Time > 0 {
		p.Spec.ActiveDeadlineSeconds = new(int64(math.Ceil(e.Time)))
	}
	if e.ServiceAccount == "" && e.template.Spec.AutomountServiceAccountToken == nil {
		p.Spec.AutomountServiceAccountToken = new(false) // trials have no rights in the cluster
	}
	if e.template.Spec.EnableServiceLinks == nil {
		p.Spec.EnableServiceLinks = new(false)
	}
	if e.Cache != "" {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "tunehost-cache", VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: e.Cache, Type: new(corev1.HostPathDirectoryOrCreate)}}})
		c := &p.Spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "tunehost-cache", MountPath: cached})
	}
}

// merged merges a pod into the template. Where both say something, the pod counts.
func (e *executor) merged(p *corev1.Pod) (*corev1.Pod, error) {
	below, err := json.Marshal(e.template.Pod)
	if err != nil {
		return nil, err
	}
	above, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	text, err := strategicpatch.StrategicMergePatch(below, above, corev1.Pod{})
	if err != nil {
		return nil, err
	}
	whole := &corev1.Pod{}
	if err := json.Unmarshal(text, whole); err != nil {
		return nil, err
	}
	whole.GenerateName, whole.Namespace = "", e.cluster.namespace
	for i := range whole.Spec.Containers {
		if c := &whole.Spec.Containers[i]; c.Name == container {
			c.Args = nil // of the template: they would follow the command, and mean bundles
		}
	}
	return whole, nil
}

// startScript is the first process of a pod. It waits for the agents' program, starts an agent for each bundle, and
// passes SIGTERM on to them: it is the only notice of an eviction by the kubelet, which does not delete the pod. It
// does not give up while the program is being copied.
// Its arguments are the option connection and the bundles. When one agent ends, all do.
const startScript = `noticed= seen=
trap "noticed=1" TERM
left=$TUNEHOST_WAIT
until [ -x "$0" ]; do
	[ -z "$noticed" ] || exit 143
	[ -n "$left" ] || { echo "the image has no program $0 (the option program)"; exit 127; }
	now=$(ls -ln "${0%/*}" 2>/dev/null)
	[ "$now" = "$seen" ] || seen=$now left=$TUNEHOST_WAIT
	[ "$left" -gt 0 ] || { echo "the tunehost program was not copied into the pod in time"; exit 1; }
	left=$((left - 1))
	sleep 0.2 2>/dev/null || sleep 1
done
unset TUNEHOST_WAIT
program=$0 connection=$1
shift
agent() {
	export TUNEHOST_AGENT_BUNDLE=$1
	if [ "$connection" = exec ]; then "$program" agent --socket "/tunehost/bridge-$1/agent" & else "$program" agent & fi
	child=$!
	trap 'kill -TERM "$child" 2>/dev/null' TERM
	[ -z "$noticed" ] || kill -TERM "$child"
	while :; do
		wait "$child"
		status=$?
		kill -0 "$child" 2>/dev/null || return "$status"
	done
}
if [ $# = 1 ]; then agent "$1"; exit $?; fi
children=
trap "exit 1" USR1
for bundle; do
	(trap "noticed=1" TERM; agent "$bundle"; kill -USR1 $$) &
	children="$children $!"
done
trap 'kill -TERM $children 2>/dev/null' TERM
[ -z "$noticed" ] || kill -TERM $children
while :; do wait; done`

// restScript is the process of a pod without an agent.
const restScript = `trap : TERM; while :; do sleep 3600; done`

// command is the command of a pod's container.
func (e *executor) command(bundles []int) []string {
	if e.x.Agent == nil {
		return []string{"sh", "-c", restScript}
	}
	command := []string{"sh", "-c", startScript, e.program(), string(e.way())}
	for _, i := range bundles {
		command = append(command, strconv.Itoa(i))
	}
	return command
}

// program is the path of the agent's program in a pod.
func (e *executor) program() string {
	if e.Program != "" {
		return e.Program
	}
	return folder + "/bin/tunehost"
}

// usualGrace is how long pods wait for the agent's program, since it has last grown, if the user has not set
// host_grace; leastGrace is what a host needs that lives and has much to do.
const (
	usualGrace = 10 * time.Minute
	leastGrace = 2 * time.Minute
)

// looks is how often startScript looks for the agent's program. "": it is in the image, or never will be.
func (e *executor) looks() string {
	if e.Program != "" {
		return ""
	}
	grace := e.x.HostGrace
	if grace == 0 {
		grace = usualGrace
	}
	return strconv.Itoa(int(max(grace, leastGrace) / (200 * time.Millisecond)))
}

// environment refers to the Secret of the lease: its value is in no pod.
func (e *executor) environment(r *sdk.LeaseRequest) []corev1.EnvVar {
	if e.x.Agent == nil {
		return nil
	}
	return []corev1.EnvVar{
		{Name: sdk.AgentVariable, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: r.Lease}, Key: key}}},
		{Name: "TUNEHOST_WAIT", Value: e.looks()},
	}
}

// secret builds the Secret of a lease.
func (e *executor) secret(r *sdk.LeaseRequest) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: r.Lease, Labels: labels(e.x.Prefix, r.Lease)},
		Data:       map[string][]byte{key: []byte(r.Agent)},
	}
}

// owners is the patch by which a Secret goes when the last of the pods is gone.
func owners(pods []*corev1.Pod) ([]byte, error) {
	var list []metav1.OwnerReference
	for _, p := range pods {
		list = append(list, metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID})
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": list}})
}

// resources adds up bundles. CPUs have no limit: a pod may use what is idle.
func (e *executor) resources(r *sdk.LeaseRequest, bundles []int) (requests, limits corev1.ResourceList, err error) {
	requests, limits = corev1.ResourceList{}, corev1.ResourceList{}
	for _, i := range bundles {
		if err := e.add(requests, limits, r.Bundles[i]); err != nil {
			return nil, nil, err
		}
	}
	return requests, limits, nil
}

// add adds a bundle.
func (e *executor) add(requests, limits corev1.ResourceList, b sdk.LeaseBundle) error {
	plus := func(to corev1.ResourceList, name corev1.ResourceName, q *resource.Quantity) {
		sum := to[name]
		sum.Add(*q)
		to[name] = sum
	}
	if e.Memory > 0 && b.Get("memory") == 0 {
		b = append(b[:len(b):len(b)], sdk.Amount{Name: "memory", Value: e.Memory * (1 << 30)})
	}
	for _, a := range b {
		if !(a.Value >= 0) || a.Value > math.MaxInt64/2000 {
			return fmt.Errorf("%v of %s is more than Kubernetes can count", a.Value, a.Name)
		}
		if a.Value == 0 {
			continue
		}
		switch a.Name {
		case "cpu":
			milli := int64(math.Ceil(a.Value * 1000))
			plus(requests, corev1.ResourceCPU, resource.NewMilliQuantity(milli, resource.DecimalSI))
		case "memory":
			q := resource.NewQuantity(int64(math.Ceil(a.Value)), resource.BinarySI)
			plus(requests, corev1.ResourceMemory, q)
			plus(limits, corev1.ResourceMemory, q)
		default:
			name := corev1.ResourceName(a.Name)
			if a.Name == "gpu" {
				name = corev1.ResourceName(e.GPU)
			}
			q := resource.NewQuantity(int64(math.Ceil(a.Value)), resource.DecimalSI)
			plus(requests, name, q)
			plus(limits, name, q)
		}
	}
	return nil
}

// affinity says how the pods of a lease lie on nodes.
func affinity(r *sdk.LeaseRequest) *corev1.Affinity {
	if len(groups(r)) < 2 {
		return nil
	}
	term := corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{leaseLabel: r.Lease}}}
	must := []corev1.PodAffinityTerm{term}
	should := []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: term}}
	switch r.Strategy {
	case strictSpread:
		return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: must}}
	case spread:
		return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: should}}
	}
	return &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: should}}
}
