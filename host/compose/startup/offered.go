package startup

import (
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/compose/setup"
	"github.com/tunehost/tunehost/host/local/claims"
	"github.com/tunehost/tunehost/host/local/offer"
)

// Offered are the resources of the machine that this host uses.
type Offered struct {
	setup  *setup.Setup
	nodes  []resource.Node // nil until they are detected
	claims *claims.Entry
}

// NewOffered returns the resources of a host: nodes, or if that is nil the detected ones.
func NewOffered(b *setup.Setup, nodes []resource.Node) *Offered {
	if b.Stage != nil {
		nodes = b.Stage.Nodes
	}
	return &Offered{setup: b, nodes: nodes}
}

// needed reports whether trials run on this machine.
func (o *Offered) needed() bool { return o.setup.Plan.Experiment.Trainable != nil && !o.setup.Leased() }

// find returns the nodes of this machine. It detects them once.
func (o *Offered) find() ([]resource.Node, error) {
	if o.nodes != nil {
		return o.nodes, nil
	}
	b := o.setup
	x := offer.Options{Experiment: b.Plan.Experiment, Dir: b.Dir.Path(), Resources: b.Options.Resources,
		Share: b.Options.Share, Unclaimed: b.Options.Mode.InProcess, Log: b.Log, Clock: b.Options.Clock}
	var err error
	o.nodes, o.claims, err = offer.Take(b.Starting, x)
	return o.nodes, err
}

// enough returns the nodes if they are enough for a trial. With idle it warns of GPUs that no trial
// will use.
func (o *Offered) enough(idle bool) ([]resource.Node, error) {
	e := o.setup.Plan.Experiment
	nodes, err := o.find()
	if err != nil {
		return nil, err
	}
	short, err := offer.Shortfall(e, nodes)
	switch {
	case err != nil:
		return nil, err
	case short != nil && !e.WaitForResources:
		return nil, offer.TooSmall(e, short)
	case short != nil:
		o.setup.Log.Warn(offer.Waits(e, short))
	}
	if idle {
		offer.WarnOfIdleGPUs(e, nodes, o.setup.Log)
	}
	return nodes, nil
}

// Measure records the total resources when the experiment begins.
func (o *Offered) Measure() (err error) {
	nodes := o.nodes
	if o.needed() {
		nodes, err = o.find()
	}
	o.setup.File.Capacity = offer.Capacity(nodes)
	return err
}

// Close releases the machine's resources for other hosts.
func (o *Offered) Close() { o.claims.Leave() }
