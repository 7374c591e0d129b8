package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage"
)

// Leases describes the leases of an experiment.
type Leases struct {
	// Waiting leases are requested and not granted, Free ones are granted and run nothing, Used ones
	// run a trial, and Ending ones run a trial that must leave.
	Waiting int `json:"waiting"`
	Free    int `json:"free"`
	Used    int `json:"used"`
	Ending  int `json:"ending"`
	// Why are the executor's reasons why leases wait, each once.
	Why []string `json:"why"`
	// Ends are the executor's reasons why leases are ending, each once.
	Ends []string `json:"ends,omitempty"`
	// Lost is the reason why the last lease was lost or refused, while no trial runs on another; else "".
	Lost string `json:"lost,omitempty"`
	// RetryAt is when the next lease is requested after others were lost or refused early; zero: nothing waits for
	// that.
	RetryAt time.Time `json:"retry_at,omitzero"`
	// Direct is how many of the granted leases are on nodes that write checkpoints to the storage themselves, and
	// Indirect on nodes that cannot, whose checkpoints go through the host; Blocked are the reasons, each once. Leases
	// that share the host's files, or that have saved nothing yet, are in neither.
	Direct   int      `json:"direct,omitempty"`
	Indirect int      `json:"indirect,omitempty"`
	Blocked  []string `json:"blocked,omitempty"`
	// Nodes are the names of the nodes of granted leases, sorted.
	Nodes []string `json:"nodes"`
	// Recorded is when the record ends that the last host of an experiment without one has left, and with it what is
	// known of the leases.
	Recorded time.Time `json:"recorded,omitzero"`
	// HostGrace is there while no host runs the experiment: the leases are those that its last host held, and they
	// end so many seconds after it if no other host takes them over.
	HostGrace float64 `json:"host_grace_s,omitempty"`
	// Unreleased are the names of leases that the last host gave back and whose engine has not confirmed it: they may
	// still use the cluster.
	Unreleased []string `json:"unreleased,omitempty"`
	// UnreleasedBy is their executor, if the experiment has another one now, which cannot give them back.
	UnreleasedBy string `json:"unreleased_by,omitempty"`
	// UnreleasedUntil is when they have ended by themselves; zero: that is not known.
	UnreleasedUntil time.Time `json:"unreleased_until,omitzero"`
	// Waits is for how many seconds at most the host of an experiment that has ended still waits for the executor to
	// give Unreleased back.
	Waits float64 `json:"waits_s,omitempty"`
	// Ended is how many were not given back and have ended by themselves, and EndedBy by when.
	Ended   int       `json:"ended,omitempty"`
	EndedBy time.Time `json:"ended_by,omitzero"`
}

// withUnreleased adds the leases that were not given back; own is the executor of the experiment.
func (l *Leases) withUnreleased(all []storage.Unreleased, own string, now time.Time) *Leases {
	for _, u := range all {
		if len(u.Names) == 0 {
			continue
		}
		if l == nil {
			l = &Leases{Why: []string{}, Nodes: []string{}}
		}
		if u.Ended(now) {
			l.Ended += len(u.Names)
			l.EndedBy = later(l.EndedBy, u.Over)
			continue
		}
		known := len(l.Unreleased) == 0 || !l.UnreleasedUntil.IsZero()
		if l.UnreleasedUntil = later(l.UnreleasedUntil, u.Over); u.Over.IsZero() || !known {
			l.UnreleasedUntil = time.Time{}
		}
		if l.Unreleased = append(l.Unreleased, u.Names...); u.Executor != own {
			l.UnreleasedBy = u.Executor
		}
	}
	return l
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// waitsFor returns for how long the host that gives leases back still waits for their executor, at most.
func waitsFor(all []storage.Unreleased, now time.Time) (left time.Duration) {
	for _, u := range all {
		left = max(left, u.Waits.Sub(now))
	}
	return left
}

// leases counts the leases that are held; it returns nil if trials run on this machine.
func leases(m *core.Machine) *Leases {
	if m.Spec().Leases == nil && m.LeasesHeld() == 0 {
		return nil
	}
	out := &Leases{Why: []string{}, Nodes: []string{}}
	counts := map[core.LeaseState]*int{core.LeaseRequested: &out.Waiting, core.LeaseFree: &out.Free,
		core.LeaseUsed: &out.Used, core.LeaseEnds: &out.Ending}
	for l := range m.Leases() {
		*counts[l.State]++
		if l.State == core.LeaseRequested {
			out.Why = add(out.Why, l.Why)
			continue
		}
		out.routed(l.Route)
		if l.State == core.LeaseEnds {
			out.Ends = add(out.Ends, l.Why)
		}
		for _, slot := range l.Slots {
			out.Nodes = add(out.Nodes, m.NodeName(slot.Node))
		}
	}
	slices.Sort(out.Nodes)
	if outcome, _ := m.Outcome(); outcome == 0 && out.Used == 0 {
		out.Lost = m.LeaseGone().String()
	}
	return out
}

// Foreign names the leases that an executor which the experiment had before has not given back.
func (e *Experiment) Foreign(now time.Time) (names, executor string) {
	if e.copied() {
		return "", ""
	}
	var list []string
	for _, u := range e.Dir.ReadUnreleased() {
		if u.Executor != e.Config.Executor.Name && len(u.Names) > 0 && !u.Ended(now) {
			list, executor = append(list, u.Names...), u.Executor
		}
	}
	return storage.NamesOfLeases(list), executor
}

// left says that no host holds them any more.
func (l *Leases) left(s *State) {
	if l == nil {
		return
	}
	l.RetryAt = time.Time{}
	if l.held() {
		l.HostGrace, l.Recorded = s.Config.HostGrace.Seconds(), s.wall(s.Machine.Now())
	}
}

// givenBack reports whether all leases of an experiment without a host were given back since it had one.
func givenBack(all []storage.Unreleased, own string) bool {
	return slices.ContainsFunc(all, func(u storage.Unreleased) bool { return u.Executor == own && !u.Given.IsZero() })
}

// ToGiveBack returns how many leases the executor of an experiment that no host runs can give back.
func (e *Experiment) ToGiveBack(now time.Time) (n int, err error) {
	if e.copied() {
		return 0, nil
	}
	all, own := e.Dir.ReadUnreleased(), e.Config.Executor.Name
	for _, u := range all {
		if u.Executor == own && !u.Ended(now) {
			n += len(u.Names)
		}
	}
	held, err := e.LeasesHeld()
	if givenBack(all, own) {
		held = 0
	}
	return n + held, err
}

// copied reports whether the directory is a copy that no host has run yet: the leases that its files name belong to
// the original.
func (e *Experiment) copied() bool {
	return e.run != nil && e.Dir.Path() != "" && e.elsewhere == nil && e.run.Copied(e.Dir)
}

// held reports whether there are any.
func (l *Leases) held() bool { return l.Waiting+l.Free+l.Used+l.Ending > 0 }

// routed counts a lease by the way of its checkpoints.
func (l *Leases) routed(r core.Route) {
	switch {
	case !r.Known:
	case r.Direct:
		l.Direct++
	default:
		l.Indirect++
		l.Blocked = add(l.Blocked, r.Why)
	}
}

// LeasesHeld returns how many leases the experiment holds; one that has ended for good holds none.
func (e *Experiment) LeasesHeld() (held int, err error) {
	err = e.source.Look(func(s *State) { held = leasesHeld(s.Machine) })
	return held, err
}

func leasesHeld(m *core.Machine) int {
	if ended, _ := m.Outcome(); ended != 0 {
		return 0
	}
	return m.LeasesHeld()
}

// add adds a text that is not there yet.
func add(list []string, text string) []string {
	if text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// ending is "ending (the job is preempted)".
func (l *Leases) ending() string {
	if len(l.Ends) == 0 {
		return "ending"
	}
	return "ending (" + strings.Join(l.Ends, "; ") + ")"
}

// String returns text for people: "2 in use, 1 waiting: no node has room for cpu 1", or "none; the last
// one: lease lost: node n1 is down".
func (l *Leases) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{l.Used, "in use"}, {l.Ending, l.ending()}, {l.Free, "free"}, {l.Waiting, "waiting"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprint(p.n, " ", p.what))
		}
	}
	if len(l.Unreleased) > 0 {
		parts = append(parts, l.unreleased())
	}
	text := cmp.Or(strings.Join(parts, ", "), "none")
	if l.Ended > 0 {
		text += fmt.Sprintf("; %d not given back, but ended by %s", l.Ended, momentOf(l.EndedBy))
	}
	if len(l.Why) > 0 {
		text += ": " + strings.Join(l.Why, "; ")
	}
	if l.Lost != "" {
		text += "; the last one: " + l.Lost
	}
	text += l.retry()
	if l.HostGrace > 0 {
		waiting := ""
		if l.Waiting > 0 { // nothing of them runs that could end
			waiting = " (those that wait: once they are granted)"
		}
		grace := time.Duration(l.HostGrace * float64(time.Second))
		return fmt.Sprintf("when its last host ended (its record ends at %s): %s; without "+
			"another host they end %v after it, at %s at the earliest%s, and `tunehost interrupt` gives back now what "+
			"is left", momentOf(l.Recorded), text, grace, momentOf(l.Recorded.Add(grace)), waiting)
	}
	return text + l.routes()
}

// retry is "; another is requested at 18:23:43".
func (l *Leases) retry() string {
	if l.RetryAt.IsZero() {
		return ""
	}
	return "; another is requested at " + l.RetryAt.Local().Format(time.TimeOnly)
}

// unreleased is "2 not given back (th-a-1, th-a-2)", and what to do.
func (l *Leases) unreleased() string {
	if l.Waits > 0 {
		return fmt.Sprintf("%s not given back yet (%s)", l.howMany(), storage.NamesOfLeases(l.Unreleased))
	}
	does := "or interrupt or resume the experiment, which gives them back"
	if l.UnreleasedBy != "" {
		does = "or continue with executor=" + l.UnreleasedBy
	}
	if !l.UnreleasedUntil.IsZero() {
		does += "; otherwise they end by " + momentOf(l.UnreleasedUntil)
	}
	return fmt.Sprintf("%s not given back (%s; cancel what has these names with the cluster's own command, %s)",
		l.howMany(), storage.NamesOfLeases(l.Unreleased), does)
}

// howMany is how many leases were not given back, as far as that is known.
func (l *Leases) howMany() string {
	known := 0
	for _, name := range l.Unreleased {
		if !strings.HasSuffix(name, "*") {
			known++
		}
	}
	if known == 0 {
		return "some perhaps"
	}
	return fmt.Sprint(known)
}

// momentOf is a time where the user is.
func momentOf(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// Awaited says in a few words what the experiment waits for, or soon will: "4 leases wait: in the queue", or "no lease;
// the last one: lease lost: node n1 is down". It is "" if there is nothing to say: while trials run, leases that wait
// for no reason yet are none.
func (l *Leases) Awaited(trialsRun bool) string {
	var parts []string
	if l.Ending > 0 && len(l.Ends) > 0 {
		parts = append(parts, leasesDo(l.Ending, "end")+" ("+strings.Join(l.Ends, "; ")+")")
	}
	switch {
	case l.Waiting > 0 && len(l.Why) > 0:
		parts = append(parts, leasesDo(l.Waiting, "wait")+": "+strings.Join(l.Why, "; "))
	case l.Waiting > 0 && !trialsRun:
		parts = append(parts, leasesDo(l.Waiting, "wait"))
	}
	text := strings.Join(parts, ", ")
	if l.Lost != "" && l.Free == 0 {
		return cmp.Or(text, "no lease") + "; the last one: " + l.Lost + l.retry()
	}
	if !l.RetryAt.IsZero() && !trialsRun && l.Free == 0 {
		return cmp.Or(text, "no lease") + l.retry()
	}
	return text
}

// leasesDo is "1 lease waits" or "2 leases wait".
func leasesDo(n int, what string) string {
	if n == 1 {
		return "1 lease " + what + "s"
	}
	return fmt.Sprintf("%d leases %s", n, what)
}

// routes returns text about the way of checkpoints.
func (l *Leases) routes() (text string) {
	switch {
	case l.Direct == 1:
		text += "; 1 writes checkpoints to the storage itself"
	case l.Direct > 1:
		text += fmt.Sprintf("; %d write checkpoints to the storage themselves", l.Direct)
	}
	if l.Indirect > 0 {
		text += fmt.Sprintf("; checkpoints of %d go over the connection to the host, whose nodes have %s", l.Indirect,
			strings.Join(l.Blocked, "; "))
	}
	return text
}
