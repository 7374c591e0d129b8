package batch

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

const mib = 1 << 20

// needs is the request of each bundle of a lease; all are equal.
type needs struct {
	nodes, cpu, gpu int
	memory          int // MiB; 0: not requested
	others          map[string]float64
}

// read reads the request of a lease; the error says why no job can be submitted for it.
func (p *plan) needs(r sdk.LeaseRequest) (*needs, error) {
	switch {
	case len(r.Bundles) == 0:
		return nil, errors.New("the lease has no bundles")
	case len(r.Bundles) > 1 && !p.gangs():
		return nil, errors.New("several bundles need the options launch, and {nodes} in submit")
	case len(r.Bundles) > 1 && r.Strategy == "strict_pack":
		return nil, errors.New("strict_pack is not possible: batch puts each bundle on a node of its own")
	}
	for _, b := range r.Bundles[1:] {
		if !slices.Equal(b, r.Bundles[0]) {
			return nil, errors.New("the bundles differ, and batch asks for nodes that are all the same: " +
				"make the placement's bundles the same")
		}
	}
	n := &needs{nodes: len(r.Bundles), cpu: 1, others: map[string]float64{}}
	for _, a := range r.Bundles[0] {
		if err := n.take(p, a); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// take adds an amount, if submit can request it.
func (n *needs) take(p *plan, a sdk.Amount) error {
	asks := p.submit.uses(a.Name)
	switch a.Name {
	case "cpu":
		n.cpu = max(1, int(math.Ceil(min(a.Value, math.MaxInt32))))
		asks = asks || p.submit.uses("slots") || n.cpu == 1
	case "gpu":
		if a.Value != math.Trunc(a.Value) {
			return fmt.Errorf("gpu %v is not possible: a job has whole GPUs", a.Value)
		}
		n.gpu = int(min(a.Value, math.MaxInt32))
	case "memory":
		n.memory = int(math.Ceil(min(a.Value/mib, math.MaxInt32)))
		asks = asks || p.submit.uses("memory_per_cpu")
	default:
		n.others[a.Name] = a.Value
	}
	if !asks && a.Value > 0 {
		return fmt.Errorf("a trial asks for %s, and submit has no {%s}: put it there, or take %s out of resources",
			words(a), a.Name, a.Name)
	}
	return nil
}

// values returns the values of the placeholders of submit.
func (p *plan) values(lease, dir string, n *needs) values {
	v := values{
		"name": {lease}, "cpu": {strconv.Itoa(n.cpu)}, "nodes": {strconv.Itoa(n.nodes)},
		"slots": {strconv.Itoa(n.nodes * n.cpu)}, "args": p.args,
		"script": {filepath.Join(dir, lease+scriptSuffix)}, "script_name": {lease + scriptSuffix},
		"log": {filepath.Join(dir, lease+logSuffix)},
	}
	if n.gpu > 0 {
		v["gpu"] = one(strconv.Itoa(n.gpu))
	}
	if n.memory > 0 {
		v["memory"] = one(strconv.Itoa(n.memory))
		v["memory_per_cpu"] = one(strconv.Itoa((n.memory + n.cpu - 1) / n.cpu))
	}
	if p.time > 0 {
		minutes := int((p.time + time.Minute - 1) / time.Minute)
		v["minutes"], v["seconds"] = one(strconv.Itoa(minutes)), one(strconv.Itoa(int(p.time/time.Second)))
		v["time"] = one(clockTime(p.time))
	}
	for name, amount := range n.others {
		if amount > 0 {
			v[name] = one(strconv.FormatFloat(amount, 'f', -1, 64))
		}
	}
	return v
}

// clockTime returns a wall time as batch systems read it.
func clockTime(d time.Duration) string {
	s := int(d / time.Second)
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// launchWords returns the command that starts a program on each node, for the job's script.
func (p *plan) launchWords(n *needs) ([]string, error) {
	v := values{"nodes": {strconv.Itoa(n.nodes)}, "cpu": {strconv.Itoa(n.cpu)}}
	if n.gpu > 0 {
		v["gpu"] = one(strconv.Itoa(n.gpu))
	}
	return p.launch.expand(v)
}

// words returns an amount for a message.
func words(a sdk.Amount) string {
	if a.Name == "memory" {
		return fmt.Sprintf("memory %.6gMiB", a.Value/mib)
	}
	return fmt.Sprintf("%s %.6g", a.Name, a.Value)
}
