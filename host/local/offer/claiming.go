package offer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/request"
	"github.com/tunehost/tunehost/host/config/spec"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/local/claims"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/usererror"
)

const unseen = "other experiments on this machine do not see which GPUs this one uses: "

// claim takes the part of this machine that the trials can use and that other experiments have left
// (B-138), and returns what it took. A machine on which nothing can be claimed is used as it is.
func (o *Options) claim(ctx context.Context, offered local.Node, cpus string) (local.Node, *claims.Entry, error) {
	left, entry, err := o.enter(offered, cpus)
	var held *heldError
	for said := ""; errors.As(err, &held) && o.Experiment.WaitForResources; left, entry, err = o.enter(offered, cpus) {
		if held.Error() != said {
			said = held.Error()
			o.Log.Warn("no trial can start yet, and the experiment waits (wait_for_resources): " + held.what)
		}
		if err := o.wait(ctx, claimAgain); err != nil {
			return offered, nil, err
		}
	}
	switch {
	case errors.As(err, &held):
		return offered, nil, usererror.Wrap(held)
	case err != nil:
		o.Log.Warn(unseen + oneLine(err))
	case entry.Alone() != nil:
		o.Log.Warn(unseen + oneLine(entry.Alone()))
	}
	return left, entry, nil
}

// claimAgain is how often a waiting host looks for released GPUs.
const claimAgain = time.Second

// wait waits for a while, or until the user interrupts.
func (o *Options) wait(ctx context.Context, d time.Duration) error {
	over := make(chan struct{})
	stop := o.Clock.AfterFunc(d, func() { close(over) })
	defer stop()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// enter claims what the trials can use of this machine, or fails with a heldError.
func (o *Options) enter(offered local.Node, cpus string) (left local.Node, entry *claims.Entry, err error) {
	n := needsOf(o.Experiment)
	left = offered
	entry, err = claims.Enter(func(others claims.Others) (c claims.Claim, err error) {
		o.warnOfBusyCPUs(n.mayUse(offered, "cpu"), number(cpus), others.Claims)
		if others.Unread != nil && !o.Share {
			o.Log.Once("claims", "what another experiment uses of this machine cannot be read: "+oneLine(others.Unread))
		}
		if left, err = o.unclaimed(offered, n, others); err != nil {
			return c, err
		}
		return o.claimed(left, n), nil
	})
	return left, entry, err
}

// heldError says which GPUs other experiments hold, and what the user can do about it.
type heldError struct{ what, do string }

// Error implements error.
func (e *heldError) Error() string { return e.what + "; " + e.do }

func (o *Options) claimed(n local.Node, x needs) claims.Claim {
	c := claims.Claim{Experiment: o.Experiment.Name, Dir: o.Dir, PID: os.Getpid(), CPUs: x.mayUse(n, "cpu")}
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

// unclaimed returns the node with the GPUs that no other experiment holds, and no more than
// the trials can use.
func (o *Options) unclaimed(n local.Node, x needs, others claims.Others) (local.Node, error) {
	if !x.gpus || o.Share || len(n.GPUs) == 0 {
		return n, nil
	}
	if others.Unread != nil {
		return n, &heldError{"another host's claim on this machine cannot be read, and may be of any GPU: " +
			oneLine(others.Unread),
			"correct that or stop that host, or share the GPUs with it (--share)"}
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
			fmt.Sprintf("a trial needs %d of this machine's %d GPUs, and %d are free: %s", least, len(n.GPUs),
				len(free), holding(holders)),
			"start again when that has ended, or let this experiment wait for it (wait_for_resources: true), " +
				"give each experiment its own GPUs (CUDA_VISIBLE_DEVICES), or share them (--share)"}
	default:
		o.Log.Warn(fmt.Sprintf("%d of this machine's %d GPUs are used by other experiments and left to them: %s; "+
			"--share uses them too",
			len(holders), len(n.GPUs), holding(holders)))
	}
	return n.WithGPUs(free), nil
}

// holding names the experiments that hold resources, each once.
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
func (o *Options) warnOfBusyCPUs(mine, cpus float64, others []claims.Claim) {
	sum := mine
	var names []string
	for _, c := range others {
		if c.CPUs > 0 {
			sum += c.CPUs
			names = append(names, fmt.Sprintf("%s uses up to %s", nameOf(c), decimal(c.CPUs)))
		}
	}
	if o.Share || len(names) == 0 || mine == 0 || sum <= cpus {
		return
	}
	o.Log.Once("cpus", fmt.Sprintf("this machine has %s CPUs, and this experiment may use %s while %s: both may get "+
		"slower; --resources cpu=N gives each its part, --share turns this warning off", decimal(cpus), decimal(mine),
		strings.Join(names, ", ")))
}

// decimal writes an amount for people, without what products of decimal fractions are wrong by.
func decimal(x float64) string { return strconv.FormatFloat(math.Round(x*1e9)/1e9, 'f', -1, 64) }

// needs are the resources that the trials of an experiment request from a machine, as far as the
// file says.
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
	if r, err := request.Of(e); err == nil {
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

// mayUse returns how much of a resource the trials can use at a time.
func (n needs) mayUse(on local.Node, name string) float64 {
	all := number(on.Amounts[name])
	if !n.fixed || n.most == 0 {
		return all
	}
	return min(all, n.least[name]*float64(n.most))
}

// number parses an amount; it returns 0 for other texts: amounts are checked elsewhere.
func number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	return x
}
