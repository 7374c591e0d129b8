package main

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// quota is what the API server says of an exceeded quota: requested, used and limited, each name=amount,….
var quota = regexp.MustCompile(`exceeded quota: \S+, requested: (\S+), used: \S+, limited: (\S+)`)

// beyondQuota reports whether a request is more than a quota ever allows; ok: the text is about a quota. The text has
// what one pod requests; all is what those of its lease do together.
func beyondQuota(text string, all func(name string) resource.Quantity) (beyond, ok bool) {
	m := quota.FindStringSubmatch(text)
	if m == nil {
		return false, false
	}
	limits := amountsOf(m[2])
	for name, requested := range amountsOf(m[1]) {
		limit, known := limits[name]
		together := all(name)
		beyond = beyond || known && (requested.Cmp(limit) > 0 || together.Cmp(limit) > 0)
	}
	return beyond, true
}

func amountsOf(list string) map[string]resource.Quantity {
	amounts := map[string]resource.Quantity{}
	for item := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(item, "=")
		if q, err := resource.ParseQuantity(value); err == nil {
			amounts[name] = q
		}
	}
	return amounts
}

// wanted is how much the pods of a lease request together of what a quota counts by this name.
func (e *executor) wanted(r *sdk.LeaseRequest, name string) (sum resource.Quantity) {
	for i := range groups(r) {
		if p, err := e.pod(r, i); err == nil {
			sum.Add(counted(p, name))
		}
	}
	return sum
}

// counted is how much a pod requests of what a quota counts: pods, limits.memory, requests.cpu, or cpu for the same.
func counted(p *corev1.Pod, name string) (sum resource.Quantity) {
	if name == "pods" || name == "count/pods" {
		return *resource.NewQuantity(1, resource.DecimalSI)
	}
	what, limits := strings.CutPrefix(name, "limits.")
	what = strings.TrimPrefix(what, "requests.")
	for i := range p.Spec.Containers {
		list := p.Spec.Containers[i].Resources.Requests
		if limits {
			list = p.Spec.Containers[i].Resources.Limits
		}
		sum.Add(list[corev1.ResourceName(what)])
	}
	return sum
}
