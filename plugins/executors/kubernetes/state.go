package main

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// stage is how far a pod is.
type stage int

const (
	waiting stage = iota // it has no node
	bound                // it has a node, and its container does not run yet
	running              // its container runs
	ending               // it is being deleted, and may run until then
	over                 // it has ended, or was deleted
	never                // its container can never start
)

// state is what is known of a pod.
type state struct {
	stage stage
	why   string
	until time.Time // with ending, and with running if its end is known
}

// stateOf reads a pod.
func stateOf(p *corev1.Pod) state {
	switch {
	case p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded:
		return endState(p)
	case p.DeletionTimestamp != nil:
		return state{stage: ending, why: goneWhy(p), until: p.DeletionTimestamp.Time}
	case p.Spec.NodeName == "":
		return state{stage: waiting, why: waitWhy(p)}
	}
	return containerState(p)
}

// endState is the state of a pod that has ended.
func endState(p *corev1.Pod) state {
	if why := cannotStart(p); why != "" {
		return state{stage: never, why: why}
	}
	return state{stage: over, why: endWhy(p)}
}

// containerState is the state of a pod that has a node.
func containerState(p *corev1.Pod) state {
	for _, c := range p.Status.ContainerStatuses {
		switch {
		case c.Name != container:
		case c.State.Running != nil:
			return state{stage: running, until: endOf(p)}
		case c.State.Terminated != nil:
			return endState(p)
		}
		if s, ok := startState(p, &c); c.Name == container && ok {
			return s
		}
	}
	for _, c := range p.Status.InitContainerStatuses { // those of the template
		if s, ok := startState(p, &c); ok {
			return s
		}
	}
	return state{stage: bound, why: kubernetes("the container is being created on "+p.Spec.NodeName, "")}
}

// startState is the state of a pod one of whose containers does not start; ok: there is a reason.
func startState(p *corev1.Pod, c *corev1.ContainerStatus) (s state, ok bool) {
	w := c.State.Waiting
	if w == nil || w.Reason == "" || w.Reason == "ContainerCreating" || w.Reason == "PodInitializing" {
		return state{}, false
	}
	of := ""
	if c.Name != container {
		of = "the container " + c.Name + ": "
	}
	if hopeless[w.Reason] {
		return state{stage: never, why: kubernetes(of+w.Reason, w.Message)}, true
	}
	return state{stage: bound, why: kubernetes("on "+p.Spec.NodeName+": "+of+w.Reason, w.Message)}, true
}

// hopeless are reasons for which a container waits that only another request can change.
var hopeless = map[string]bool{"InvalidImageName": true, "ErrImageNeverPull": true}

// endOf is when the pod's time ends, or zero.
func endOf(p *corev1.Pod) time.Time {
	if p.Spec.ActiveDeadlineSeconds == nil || p.Status.StartTime == nil {
		return time.Time{}
	}
	return p.Status.StartTime.Add(time.Duration(*p.Spec.ActiveDeadlineSeconds) * time.Second)
}

// kubernetes is a reason in Kubernetes' words.
func kubernetes(reason, message string) string {
	if message == "" {
		return "Kubernetes: " + oneLine(reason)
	}
	if reason == "" {
		return "Kubernetes: " + oneLine(message)
	}
	return "Kubernetes: " + oneLine(reason) + ": " + oneLine(message)
}

// waitWhy is why a pod has no node.
func waitWhy(p *corev1.Pod) string {
	if len(p.Spec.SchedulingGates) > 0 {
		return kubernetes("the pod has the scheduling gate "+p.Spec.SchedulingGates[0].Name, "")
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status != corev1.ConditionTrue && c.Message != "" {
			return kubernetes("", c.Message)
		}
	}
	if name := p.Spec.SchedulerName; name != "" && name != corev1.DefaultSchedulerName {
		return kubernetes("the scheduler "+name+" has not looked at the pod yet", "")
	}
	return kubernetes("no scheduler has looked at the pod yet", "")
}

// goneWhy is why a pod was deleted.
func goneWhy(p *corev1.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return kubernetes("the pod "+p.Name+" was taken away ("+c.Reason+")", c.Message)
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Reason == "NodeNotReady" {
			return kubernetes("the node "+p.Spec.NodeName+" does not answer", "")
		}
	}
	return deleted(p.Name)
}

func deleted(pod string) string {
	return kubernetes("the pod "+pod+" was deleted by somebody else", "")
}

// endWhy is why a pod has ended.
func endWhy(p *corev1.Pod) string {
	if p.Status.Reason != "" {
		return kubernetes(p.Status.Reason, p.Status.Message)
	}
	name, t := "the pod "+p.Name, terminated(p)
	if t == nil {
		name, t = failedBefore(p)
	}
	switch {
	case t == nil && p.DeletionTimestamp != nil:
		return goneWhy(p)
	case t == nil:
		return kubernetes("the pod "+p.Name+" has ended", "")
	case t.Reason == "OOMKilled":
		return kubernetes("OOMKilled: it used more memory than it had; request more (resources: memory)", "")
	case p.DeletionTimestamp != nil:
		return goneWhy(p)
	}
	why := fmt.Sprintf("%s has ended: %s, exit code %d", name, t.Reason, t.ExitCode)
	if last := lastLine(t.Message); last != "" {
		why += "; its last words: " + last
	}
	return kubernetes(why, "")
}

// failedBefore is how a container of the template that runs before that of trials has failed, or nil.
func failedBefore(p *corev1.Pod) (name string, t *corev1.ContainerStateTerminated) {
	for _, c := range p.Status.InitContainerStatuses {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			return "the container " + c.Name + " of the pod " + p.Name, t
		}
	}
	return "", nil
}

// The exit codes of a shell that cannot run a program.
const (
	notExecutable = 126
	notFound      = 127
)

// cannotStart is why a container can never start, or "".
func cannotStart(p *corev1.Pod) string {
	t := terminated(p)
	switch {
	case t == nil:
		return ""
	case t.Reason == "StartError" || t.Reason == "ContainerCannotRun":
		return kubernetes(t.Reason, t.Message+"; the image needs a shell (sh), sleep and cat")
	case t.ExitCode == notExecutable || t.ExitCode == notFound:
		return kubernetes("the tunehost program does not run in the pod "+p.Name, lastLine(t.Message))
	}
	return ""
}

// terminated is how the container of trials has ended, or nil.
func terminated(p *corev1.Pod) *corev1.ContainerStateTerminated {
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == container {
			return c.State.Terminated
		}
	}
	return nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	const most = 300
	last := []rune(strings.TrimSpace(lines[len(lines)-1]))
	if n := len(last); n > most {
		return "…" + string(last[n-most:])
	}
	return string(last)
}
