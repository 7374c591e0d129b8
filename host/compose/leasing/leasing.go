// Package leasing has the executor of an experiment whose trials run on leases, and the granter
// that asks it for them.
package leasing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/agent"
	"github.com/tunehost/tunehost/host/compose/setup"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/validate/needs"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// A program that hosts experiments is also the agent on the nodes of an engine.
func init() { bundled.Agents(agent.Main) }

// releaseGrace is how long a host that ends waits for an executor to give leases back.
const releaseGrace = 30 * time.Second

// agentsEnd is how long agents whose host did not come back may take to end, and the engine to end their leases.
const agentsEnd = 30 * time.Second

// Leasing is what a host knows of the executor that grants leases. Where trials run on this
// machine, it does nothing.
type Leasing struct {
	setup    *setup.Setup
	opener   func() *opening.Opener
	executor plugin.Executor // nil: there is none, or it is the granter's
	granter  *exec.Granter   // nil: trials run on this machine
	agents   *agents         // nil: the executor starts none
	// host is where the executor's process reaches the host; inner listens there until there are agents.
	host  string
	inner net.Listener
}

// New returns the leasing of an experiment whose plugins opener starts.
func New(b *setup.Setup, opener func() *opening.Opener) *Leasing {
	return &Leasing{setup: b, opener: opener}
}

// SameExecutor: leases that a host has left behind are adopted by the executor that granted
// them.
func SameExecutor(b *setup.Setup) error {
	p := b.Plan
	if ended, _ := b.Machine.Outcome(); ended != 0 || p.Before == nil {
		return nil
	}
	if err := steer.SameExecutor(p.Before, p.Experiment, b.Machine.LeasesHeld()); err != nil {
		return usererror.Errorf("%s: %w", p.ExecutorAt, err)
	}
	return nil
}

// Open starts the executor that the file names; what it grants is posted.
func (s *Leasing) Open(to *inbox.Inbox) (err error) {
	s.warnForgotten()
	if !s.setup.Leased() {
		return nil
	}
	s.listenInside()
	defer s.closeInside()
	if s.executor, err = s.start(s.setup.Starting); err != nil {
		return s.setup.UnlessInterrupted(err)
	}
	if err := s.suits(); err != nil {
		return err
	}
	if why := unreached(s.setup.Plan.Experiment, s.executor.Traits()); why != "" {
		s.setup.Log.Warn(why)
	}
	if s.executor.Traits().Agents {
		if err := needs.Uploadable(s.setup.Plan.Experiment, s.setup.Dir.Path()); err != nil {
			return usererror.Wrap(err) // before anything is requested for it
		}
		if s.agents, err = s.expectAgents(); err != nil {
			return err
		}
	}
	s.granter = exec.New(exec.Options{Title: fmt.Sprintf("executor %q", s.setup.Plan.Experiment.Executor.Name),
		Prefix: s.prefix(), First: s.executor, Open: s.start, Within: s.within, Agents: s.agents.port(),
		Post: to.Post, Note: s.note, Log: s.setup.Log, Clock: s.setup.Options.Clock})
	if s.agents != nil {
		s.agents.own(s.granter)
	}
	return nil
}

// warnForgotten says which leases of another executor, which the experiment had before, may still use a cluster: this
// host cannot give them back.
func (s *Leasing) warnForgotten() {
	if !s.setup.Kept() {
		return // it has no directory
	}
	for _, u := range s.setup.Dir.ReadUnreleased() {
		own := s.setup.Leased() && u.Executor == s.setup.Plan.Experiment.Executor.Name
		if own || len(u.Names) == 0 || u.Ended(s.setup.Options.Clock.Now()) {
			continue
		}
		s.setup.Log.Warn(fmt.Sprintf("the executor %q, which this experiment had before, has not confirmed that these "+
			"leases are given back: %s; they may use the cluster until their agents have had no host for host_grace "+
			"(%s): cancel what has these names with the cluster's own command; a later host with "+
			"executor=%[1]s gives them back",
			u.Executor, storage.NamesOfLeases(u.Names), deadlines.Text(s.setup.Plan.Experiment.HostGrace)))
	}
}

// suits reports whether the executor does what the file asks of it.
func (s *Leasing) suits() error {
	e, traits := s.setup.Plan.Experiment, s.executor.Traits()
	switch {
	case e.Placement != nil && len(e.Placement.Bundles) > 1 && !traits.Gangs:
		return usererror.Errorf("%s: the executor %q does not grant several bundles at once: ask for one bundle",
			e.PosOf("placement"), e.Executor.Name)
	case len(e.Upload) > 0 && !traits.Agents:
		return usererror.Errorf("%s: the executor %q has no agents to send files to: its trials run on this machine, "+
			"beside the files; leave upload out", e.PosOf("executor.upload"), e.Executor.Name)
	}
	return nil
}

// unreached warns of addresses for agents of an executor that starts none.
func unreached(e *config.Experiment, traits sdk.ExecutorTraits) string {
	for _, key := range []string{"executor.host_address", "executor.host_port"} {
		if e.Has(key) && !traits.Agents {
			return fmt.Sprintf("%s: %s has no effect: the executor %q starts no agents, which would connect to this "+
				"host: leave it out", e.PosOf(key), strings.TrimPrefix(key, "executor."), e.Executor.Name)
		}
	}
	return ""
}

// prefix begins the names of the experiment's leases, and of no other's.
func (s *Leasing) prefix() string { return s.setup.Home.Prefix(s.setup.File.RunID) }

// start starts the executor's process and opens it.
func (s *Leasing) start(ctx context.Context) (plugin.Executor, error) {
	o, ref := s.opener(), s.setup.Plan.Experiment.Executor
	p, err := o.Start(ctx, sdk.KindExecutor, ref, nil)
	if err != nil {
		return nil, opening.Placed(ref, err)
	}
	x := sdk.Execution{Experiment: s.setup.Plan.Experiment.Name, Dir: s.setup.Dir.Path(), Prefix: s.prefix(),
		HostGrace: s.setup.Plan.Experiment.HostGrace, Host: s.host}
	if x.Agent, err = agentProgram(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	e, err := opening.Opened(ctx, o, sdk.KindExecutor, ref, deadlines.Open,
		func(ctx context.Context) (plugin.Executor, error) { return p.OpenExecutor(ctx, x, ref.Options) })
	if err != nil {
		return nil, errors.Join(opening.Placed(ref, err), p.Close())
	}
	return e, nil
}

// within bounds a call of the executor.
func (s *Leasing) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return deadlines.Within(ctx, s.opener().Limit(sdk.KindExecutor, s.setup.Plan.Experiment.Executor, deadlines.Lease))
}

// Port requests leases.
func (s *Leasing) Port() engine.Granter {
	if s.granter == nil {
		return engine.NoGranter{}
	}
	return s.granter
}

// Start has leases asked for; the executor is the granter's from here on.
func (s *Leasing) Start() {
	if s.granter != nil {
		s.executor = nil
		go s.granter.Run()
	}
}

// Stop ends the executor once all that was released is given back. A host that
// fails leaves leases behind, for the next host.
func (s *Leasing) Stop(broken bool) {
	if s.granter == nil {
		return
	}
	if kept := s.end(broken); len(kept) > 0 && !broken {
		s.warnKept(kept)
	}
}

// end ends the executor, and returns the names of the leases that may not be over.
func (s *Leasing) end(broken bool) (kept []string) {
	ctx, cancel := context.WithTimeout(context.Background(), releaseGrace)
	defer cancel()
	if broken {
		cancel()
	}
	return s.granter.Close(ctx)
}

func (s *Leasing) warnKept(names []string) {
	s.setup.Log.Warn(fmt.Sprintf("the executor %q has not confirmed that these leases are given back: %s; they "+
		"may go on and use the cluster until their agents have had no host for host_grace (%s): cancel what has "+
		"these names with the cluster's own command, or interrupt or resume the experiment, which gives them back",
		s.setup.Plan.Experiment.Executor.Name, storage.NamesOfLeases(names),
		deadlines.Text(s.setup.Plan.Experiment.HostGrace)))
}

// GiveBack has the executor give back all leases of an experiment that no host runs, and requests none. It reports
// whether all are given back; a warning names those that may not be over.
func (s *Leasing) GiveBack() (all bool, err error) {
	before := s.noted()
	if err := s.Open(inbox.New()); err != nil || s.granter == nil {
		return err == nil, err
	}
	s.granter.Do(core.AdoptLeases{})
	s.granter.Flush()
	s.Start()
	kept := s.end(false)
	if len(kept) == 0 {
		now := s.setup.Options.Clock.Now().UTC().Round(time.Second)
		return true, s.setup.Dir.NoteUnreleased(storage.Unreleased{Executor: before.Executor, Given: now})
	}
	if len(before.Names) > 0 {
		kept = before.Names // this host does not know them
	}
	s.warnKept(kept)
	return false, s.setup.Dir.NoteUnreleased(before)
}

// noted returns what earlier hosts have noted of the executor's leases.
func (s *Leasing) noted() storage.Unreleased {
	own := storage.Unreleased{Executor: s.setup.Plan.Experiment.Executor.Name}
	for _, u := range s.setup.Dir.ReadUnreleased() {
		if u.Executor == own.Executor {
			own.Names, own.Over = u.Names, u.Over
		}
	}
	return own
}

// note tells readers of the experiment which leases may not be over. It is for people: if it cannot be written, the
// log has the names.
func (s *Leasing) note(k exec.Kept) {
	if !s.setup.Kept() {
		return
	}
	e := s.setup.Plan.Experiment
	u := storage.Unreleased{Executor: e.Executor.Name, Names: k.Names, Waits: k.Until}
	if k.Ran {
		last := s.setup.Options.Clock.Now()
		if k.Until.After(last) {
			last = k.Until
		}
		u.Over = last.Add(e.HostGrace + agentsEnd).UTC().Round(time.Second)
	}
	if err := s.setup.Dir.NoteUnreleased(u); err != nil {
		s.setup.Log.Info("the names of leases that may not be over cannot be noted: " + err.Error())
	}
}

// Close ends an executor that no granter has.
func (s *Leasing) Close() {
	if s.executor != nil {
		_ = s.executor.Close()
	}
	s.agents.close()
}
