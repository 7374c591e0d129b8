package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	engine "github.com/tunehost/tunehost/internal/engines/kubernetes"
)

// BenchmarkKubernetes measures experiments on a real cluster, each beside what Kubernetes itself does in the same run:
//
//	make bench-kubernetes
//
// RUN=starts, RUN=loss and RUN=leases measure one of the three. The cluster and its nodes are this machine, and share
// its processors.
func BenchmarkKubernetes(b *testing.B) {
	w := &world{Cluster: engine.Start(b, engine.Options{})}
	config, err := clientcmd.BuildConfigFromFlags("", w.Config)
	if err != nil {
		b.Fatal(err)
	}
	if w.api, err = newCluster(config, "default"); err != nil {
		b.Fatal(err)
	}
	w.build(b)
	b.Run("starts", w.measureStarts)
	b.Run("loss", w.measureLoss)
	b.Run("leases", func(b *testing.B) {
		for _, pods := range []int{1, 16} {
			for _, more := range []string{"", ", cache: " + b.TempDir()} {
				w.measureLeases(b, pods, more)
			}
		}
	})
}

// rounds is how often what takes seconds is measured; the median counts.
const rounds = 3

// measureLeases measures the time from the start of an experiment until the agents of all its leases are connected,
// beside the time from the creation of as many pods that sleep until all run.
func (w *world) measureLeases(b *testing.B, pods int, more string) {
	var ours, theirs []time.Duration
	if more != "" {
		w.leases(b, 1, more) // it fills the cache
	}
	for range rounds {
		theirs = append(theirs, w.sleeps(b, pods))
		ours = append(ours, w.leases(b, pods, more))
	}
	what := "without a cache of the program"
	if more != "" {
		what = "with a cache of the program on the nodes"
	}
	say("%d pods, from the start of the experiment to the last agent connected, %s: %.2f s; plain pods, from the "+
		"first creation until all run: %.2f s; load %s", pods, what, middle(ours).Seconds(), middle(theirs).Seconds(),
		load())
}

func middle(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	now, _, _ := strings.Cut(string(text), " ")
	return now
}

// plain is a pod that only sleeps.
const plain = `{apiVersion: v1, kind: Pod, metadata: {name: sleep-%d, labels: {bench: sleep}},
	spec: {terminationGracePeriodSeconds: 0, automountServiceAccountToken: false,
		containers: [{name: c, image: %q, command: [sleep, infinity], resources: {requests: {cpu: 10m}}}]}}`

// steady has trials of the bundled trainable chaos.
const steady = `trainable: {plugin: chaos, options: {iterations: %d, sleep: %v, any_params: true}}
strict_metrics: false
trials: %d
concurrency: %d
resources: {cpu: 0.01}
executor: `

// sleeps is the time until plain pods run, of the same image and with the same requests.
func (w *world) sleeps(b *testing.B, pods int) time.Duration {
	began := time.Now()
	for i := range pods {
		w.post(b, "/api/v1/namespaces/default/pods", fmt.Sprintf(plain, i, w.Image))
	}
	ofBench := func() []corev1.Pod {
		list, err := w.api.pods(context.Background(), "bench=sleep")
		if err != nil {
			b.Fatal(err)
		}
		return list
	}
	running := func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }
	for slices.ContainsFunc(ofBench(), func(p corev1.Pod) bool { return !running(p) }) {
		time.Sleep(20 * time.Millisecond)
	}
	took := time.Since(began)
	for _, p := range ofBench() {
		if err := w.api.remove(b.Context(), "pods", p.Name, p.UID, 0); err != nil {
			b.Fatal(err)
		}
	}
	until(b, "no plain pod is left", func() bool { return len(ofBench()) == 0 })
	return took
}

// leases is the time from the start of an experiment until the agents of all its leases are connected.
func (w *world) leases(b *testing.B, pods int, more string) time.Duration {
	dir := w.file(b, "leases", fmt.Sprintf(steady, 1000000, 1, pods, pods)+w.executor(more)+"\n")
	host := w.start(b, dir, "run", "e.yaml")
	var granted []event
	until(b, "all leases are granted", func() bool {
		granted = w.events(b, dir, "leases", "lease_granted")
		return len(granted) >= pods
	})
	stop(host)
	w.nothingLeft(b)
	return time.Duration(granted[pods-1].At * float64(time.Second))
}

// measureStarts measures the time between the end of a trial and the start of the next one in the same pod, beside the
// time until a plain pod runs.
func (w *world) measureStarts(b *testing.B) {
	dir := w.file(b, "starts", fmt.Sprintf(steady, 1, 0.02, 200, 1)+w.executor("")+"\n")
	w.run(b, dir, "run", "e.yaml")
	var gaps, plain []time.Duration
	ended := -1.0
	for _, e := range w.events(b, dir, "starts", "attempt_started", "attempt_ended") {
		if e.Event == "attempt_ended" {
			ended = e.At
		} else if ended >= 0 {
			gaps = append(gaps, time.Duration((e.At-ended)*float64(time.Second)))
		}
	}
	for range 10 {
		plain = append(plain, w.sleeps(b, 1))
	}
	p50 := middle(gaps)
	p99, pod := gaps[len(gaps)*99/100], middle(plain)
	say("start of a trial in a pod that has run another, p50 %.1f ms, p99 %.1f ms; a plain pod until it runs, "+
		"p50 %.0f ms; load %s", p50.Seconds()*1000, p99.Seconds()*1000, pod.Seconds()*1000, load())
}

// measureLoss measures the time from the cut of a node's link until its lease is lost, beside the time until
// Kubernetes takes the node for unreachable.
func (w *world) measureLoss(b *testing.B) {
	dir := w.file(b, "loss", fmt.Sprintf(steady, 1000000, 0.5, 1, 1)+w.executor("")+"\n")
	host := w.start(b, dir, "run", "e.yaml")
	until(b, "results", func() bool { return len(w.events(b, dir, "loss", "result_reported")) > 2 })
	node := w.pods(b)[0].Spec.NodeName
	cut := time.Now()
	w.Cut(b, node)
	until(b, "Kubernetes notices", func() bool {
		ok, err := w.nodeReady(node)
		return err == nil && !ok
	})
	theirs := time.Since(cut)
	lost := w.events(b, dir, "loss", "lease_lost")
	w.Heal(b, node)
	until(b, "the node is back", func() bool {
		ok, err := w.nodeReady(node)
		return err == nil && ok
	})
	stop(host)
	if len(lost) == 0 {
		b.Fatal("the host did not notice")
	}
	say("loss of a node whose link is cut: %.2f s; Kubernetes, which waits for nodes for 20 s: %.1f s; load %s",
		lost[0].Time.Sub(cut).Seconds(), theirs.Seconds(), load())
	w.nothingLeft(b)
}

// nodeReady reports whether Kubernetes takes a node for ready.
func (w *world) nodeReady(name string) (bool, error) {
	var n corev1.Node
	err := w.api.call(context.Background(), w.api.client.Get().Resource("nodes").Name(name), &n)
	return ready(&n), err
}
