package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// withCapacity is an executor whose user may list the nodes and their pods.
type withCapacity struct{ *executor }

// Capacity implements sdk.CapacityExecutor.
func (e *withCapacity) Capacity(ctx context.Context) ([]sdk.ClusterNode, error) {
	var nodes corev1.NodeList
	if err := e.cluster.call(ctx, e.cluster.client.Get().Resource("nodes"), &nodes); err != nil {
		return nil, fmt.Errorf("the nodes could not be listed: %s", words(err))
	}
	var all corev1.PodList
	if err := e.cluster.call(ctx, e.cluster.client.Get().Resource("pods"), &all); err != nil {
		return nil, fmt.Errorf("the pods of all namespaces could not be listed: %s", words(err))
	}
	used := map[string]corev1.ResourceList{}
	for i := range all.Items {
		p := &all.Items[i]
		over := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		if p.Spec.NodeName != "" && p.DeletionTimestamp == nil && !over {
			used[p.Spec.NodeName] = sum(used[p.Spec.NodeName], p)
		}
	}
	list := make([]sdk.ClusterNode, len(nodes.Items))
	for i := range nodes.Items {
		list[i] = e.node(&nodes.Items[i], used[nodes.Items[i].Name])
	}
	return list, nil
}

// sum adds what a pod requests.
func sum(to corev1.ResourceList, p *corev1.Pod) corev1.ResourceList {
	if to == nil {
		to = corev1.ResourceList{}
	}
	for i := range p.Spec.Containers {
		for name, more := range p.Spec.Containers[i].Resources.Requests {
			q := to[name]
			q.Add(more)
			to[name] = q
		}
	}
	return to
}

// node is a node as the host counts.
func (e *executor) node(n *corev1.Node, used corev1.ResourceList) sdk.ClusterNode {
	node := sdk.ClusterNode{Name: n.Name, Down: n.Spec.Unschedulable || !ready(n)}
	for _, one := range []struct {
		name string
		of   corev1.ResourceName
	}{{"cpu", corev1.ResourceCPU}, {"gpu", corev1.ResourceName(e.GPU)}, {"memory", corev1.ResourceMemory}} {
		total, taken := n.Status.Allocatable[one.of], used[one.of]
		whole := total.AsApproximateFloat64()
		node.Total = append(node.Total, sdk.Amount{Name: one.name, Value: whole})
		node.Free = append(node.Free, sdk.Amount{Name: one.name, Value: max(0, whole-taken.AsApproximateFloat64())})
	}
	return node
}

func ready(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
