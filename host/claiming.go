package host

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/claims"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/demand"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/spec"
	"github.com/tunehost/tunehost/host/untrusted"
)

const unseen = "other experiments on this machine do not see which GPUs this one uses: "

// claim takes what the trials can use of this machine, as far as other experiments have
// left it, until the session ends (B-138). What is offered then is what is claimed. A
// machine on which nothing can be claimed is used as it is.
func (s *session) claim(offered local.Node, cpus string) (local.Node, error) {
	if s.options.inProcess {
		return offered, nil
	}
	left, entry, err := s.enter(offered, cpus)
	var held *heldError
	for said := ""; errors.As(err, &held) && s.experiment.WaitForResources; left, entry, err = s.enter(offered, cpus) {
		if held.Error() != said {
			said = held.Error()
			s.log.Warn("no trial can start yet, and the experiment waits (wait_for_resources): " + held.what)
		}
		if err := s.wait(claimAgain); err != nil {
			return offered, err
		}
	}
	switch {
	case errors.As(err, &held):
		return offered, &UserError{held}
	case err != nil:
		s.log.Warn(unseen + oneLine(err))
	case entry.Alone() != nil:
		s.log.Warn(unseen + oneLine(entry.Alone()))
	}
	s.claims = entry
	return left, nil
}

// claimAgain is how long a host waits for GPUs that others hold before it looks again.
const claimAgain = time.Second

// wait waits; an error says that the user has interrupted it.
func (s *session) wait(d time.Duration) error {
	over := make(chan struct{})
	stop := s.clock.AfterFunc(d, func() { close(over) })
	defer stop()
	select {
	case <-over:
		return nil
	case <-s.options.opening.Done():
		return s.options.opening.Err()
	}
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// enter claims what the trials can use of this machine, or fails with a heldError.
func (s *session) enter(offered local.Node, cpus string) (left local.Node, entry *claims.Entry, err error) {
	n := needsOf(s.experiment)
	left = offered
	entry, err = claims.Enter(func(others claims.Others) (c claims.Claim, err error) {
		s.warnOfBusyCPUs(n.mayUse(offered, "cpu"), number(cpus), others.Claims)
		if others.Unread != nil && !s.options.Share {
			s.log.Once("claims", "what another experiment uses of this machine cannot be read: "+oneLine(others.Unread))
		}
		if left, err = s.unclaimed(offered, n, others); err != nil {
			return c, err
		}
		return s.claimed(left, n), nil
	})
	return left, entry, err
}

// heldError says which GPUs other experiments hold, and what the user can do.
type heldError struct{ what, do string }

// Error implements error.
func (e *heldError) Error() string { return e.what + "; " + e.do }

func (s *session) claimed(n local.Node, x needs) claims.Claim {
	c := claims.Claim{Experiment: s.experiment.Name, Dir: s.dir.Path(), PID: os.Getpid(), CPUs: x.mayUse(n, "cpu")}
	if x.gpus {
		c.GPUs = devices(n.GPUs)
	}
	return c
}

func devices(gpus []local.GPU) (list []claims.GPU) {
	for _, g := range gpus {
		list = append(list, claims.GPU{Index: g.Index, UUID: g.UUID})
	}
	return list
}

// unclaimed leaves of a node the GPUs that no other experiment holds, and no more than
// the trials can use.
func (s *session) unclaimed(n local.Node, x needs, others claims.Others) (local.Node, error) {
	if !x.gpus || s.options.Share || len(n.GPUs) == 0 {
		return n, nil
	}
	if others.Unread != nil {
		return n, &heldError{"another host's claim on this machine cannot be read, and may be of any GPU: " + oneLine(others.Unread),
			"mend that or end that host, or use the GPUs together with it (--share)"}
	}
	var free []local.GPU
	var holders []claims.Claim
	for _, g := range n.GPUs {
		if holder := claims.Holder(others.Claims, devices([]local.GPU{g})[0]); holder != nil {
			holders = append(holders, *holder)
			continue
		}
		free = append(free, g)
	}
	if use := int(math.Ceil(x.mayUse(n, "gpu"))); use < len(free) {
		free = free[:use]
	}
	least := int(math.Ceil(x.least["gpu"]))
	switch {
	case len(holders) == 0 || len(free) == int(math.Ceil(x.mayUse(n, "gpu"))):
	case len(free) < least && len(n.GPUs) >= least:
		return n, &heldError{
			fmt.Sprintf("a trial needs %d of this machine's %d GPUs, and %d are free: %s", least, len(n.GPUs), len(free), holding(holders)),
			"begin again when that has ended, or let this experiment wait for it (wait_for_resources: true), " +
				"give each experiment GPUs of its own (CUDA_VISIBLE_DEVICES), or use them together (--share)"}
	default:
		s.log.Warn(fmt.Sprintf("%d of this machine's %d GPUs are used by other experiments and left to them: %s; --share uses them all the same",
			len(holders), len(n.GPUs), holding(holders)))
	}
	return n.WithGPUs(free), nil
}

// holding names the experiments that hold something, each once.
func holding(list []claims.Claim) string {
	count := map[string]int{}
	var names []string
	for _, c := range list {
		name := nameOf(c)
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s holds %d", name, count[name])
	}
	return strings.Join(names, ", ")
}

func nameOf(c claims.Claim) string {
	return untrusted.Line(fmt.Sprintf("experiment %s (%s, process %d)", c.Experiment, c.Dir, c.PID), 512)
}

// warnOfBusyCPUs says that this experiment and others may together use more CPUs than
// there are.
func (s *session) warnOfBusyCPUs(mine, cpus float64, others []claims.Claim) {
	sum := mine
	var names []string
	for _, c := range others {
		if c.CPUs > 0 {
			sum += c.CPUs
			names = append(names, fmt.Sprintf("%s uses up to %s", nameOf(c), decimal(c.CPUs)))
		}
	}
	if s.options.Share || len(names) == 0 || mine == 0 || sum <= cpus {
		return
	}
	s.log.Once("cpus", fmt.Sprintf("this machine has %s CPUs, and this experiment may use %s while %s: both may get slower; "+
		"--resources cpu=N gives each its part, --share leaves this warning out", decimal(cpus), decimal(mine), strings.Join(names, ", ")))
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// needs are what an experiment's trials ask of a machine, as far as its file says it.
type needs struct {
	least map[string]float64 // for one trial
	most  int64              // trials at a time; 0: as many as there is room for
	fixed bool               // no trial can ask for more
	gpus  bool               // trials may ask for GPUs
}

func needsOf(e *config.Experiment) needs {
	n := needs{least: map[string]float64{}, most: e.Concurrency}
	if planned := spec.Runs(e); planned > 0 && (n.most == 0 || planned < n.most) {
		n.most = planned
	}
	if r, err := demand.Of(e); err == nil {
		for _, b := range r.Bundles() {
			for _, it := range b.Items() {
				n.least[it.Name] += number(it.Amount.String())
			}
		}
	}
	// A plugin may compute what its trials need, and a scheduler may change it.
	computed := e.Trainable.Plugin != nil && e.Requested == nil
	changed := e.Scheduler.Name == "resources" || e.Scheduler.IsPath()
	n.fixed = len(e.Computed) == 0 && !computed && !changed
	n.gpus = !n.fixed || n.least[resource.GPU] > 0
	return n
}

// mayUse is how much of a resource the trials can use at a time.
func (n needs) mayUse(on local.Node, name string) float64 {
	all := number(on.Amounts[name])
	if !n.fixed || n.most == 0 {
		return all
	}
	return min(all, n.least[name]*float64(n.most))
}

// number is 0 for what is none: amounts are checked elsewhere.
func number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	return x
}
