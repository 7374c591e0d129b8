package steer

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/view"
)

// Resting is the [Handler] of an experiment that no host runs. Settings that the next host reads when it
// starts can be set; for all other requests the error says how to resume the experiment so
// that the request takes effect, if that is possible.
type Resting struct {
	View *view.Experiment
	// Shown is the directory as the user would type it, quoted for a shell; "": its path.
	Shown string
	// Check looks for what is wrong beside the file itself; nil: nothing is checked.
	Check Checks
	// Now returns the time of day; nil: the machine's.
	Now func() time.Time
	// TrustDir changes the directory even if it belongs to another user, or others can write to it.
	TrustDir bool
}

// Checks look at an experiment whose settings are about to change.
type Checks interface {
	// Check returns the mistakes, one a line, as in the names and options of plugins.
	Check(*config.Experiment) error
	// Doubts warn of what is valid but surely not meant. manual: the caller trains the trials.
	Doubts(e *config.Experiment, manual bool) []*config.Error
}

// Do implements [Handler].
func (x *Resting) Do(r Request) (Answer, error) {
	if set, ok := r.(Set); ok {
		a, err := x.set(set)
		a.Later = true
		return a, err
	}
	state, err := x.View.State()
	if err == nil {
		err = x.refusal(r, state)
	}
	return Answer{}, err
}

// refusal says how to continue such that a request is met.
func (x *Resting) refusal(r Request, state string) error {
	if leaving := x.View.Leaving(state, x.now()); leaving != "" {
		return &BusyError{What: fmt.Sprintf("%s is %s, and %s: try again when it has ended", x.View.Name, state,
			leaving)}
	}
	resume, resumes := x.resume()
	what, do := "there is nothing to control", ""
	if state == view.Interrupted || state == core.Failed.String() {
		do = "; " + resume + resumes
	}
	switch r := r.(type) {
	case Retry:
		return x.retry(r, state)
	case Interrupt:
		if text := x.leases(); text != "" {
			what, do = what+" but leases", "; "+text
		}
	case Stop:
		if do != "" {
			what, do = "no host runs it"+x.rests(), do+", and then it can be stopped for good"
		}
	case Unpause:
		if do != "" {
			what, do = "no host runs it", do+", and then it can be unpaused"
		}
	case Add:
		what, do = "trials are added while a host runs it", "; `tunehost set "+x.shown()+" trials=N` and then "+resume+
			" run more trials"
	}
	if do != "" { // another command is needed
		return usererror.Errorf("%s is %s: %s%s", x.View.Name, state, what, do)
	}
	return fmt.Errorf("%s is %s: %s", x.View.Name, state, what)
}

// resume returns the command that resumes the experiment, and what it does. If the scheduler keeps the last trials
// paused, a host ends at once unless it continues them.
func (x *Resting) resume() (command, does string) {
	manual := x.View.Manual()
	if st, err := x.View.Status(x.now()); err == nil && st.Cause.Is(core.CauseSchedulerStuck) && !manual {
		return view.Resumer(manual, x.shown()+" --unpause"), " resumes it with its paused trials"
	}
	return view.Resumer(manual, x.shown()), " resumes it"
}

// rests says that the experiment uses nothing; "" if it has leases.
func (x *Resting) rests() string {
	if x.leases() != "" {
		return ""
	}
	return ", and it uses nothing"
}

// leases says how the leases of the experiment are given back; "": it has none.
func (x *Resting) leases() string {
	if n, err := x.View.ToGiveBack(x.now()); err == nil && n > 0 {
		return "`tunehost interrupt " + x.shown() + "` gives them back"
	}
	if names, executor := x.View.Foreign(x.now()); executor != "" {
		return fmt.Sprintf("the executor %q, which it had before, has not confirmed that these are given back: %s; "+
			"continue with executor=%[1]s, or cancel what has these names with the cluster's own command", executor,
			names)
	}
	return ""
}

// retry names the command that runs a trial again.
func (x *Resting) retry(r Retry, state string) error {
	no, err := x.View.Find(r.Trial)
	if err != nil {
		return err
	}
	t, err := x.View.Trial(no)
	switch {
	case err != nil:
		return err
	case t.State.Final() && (t.State != core.Errored || t.NeverStarted):
		return NotFailed(x.View.TrialName(no), core.View{State: t.State, NeverStarted: t.NeverStarted})
	}
	return usererror.Errorf("%s is %s: %s", x.View.Name, state, view.Retrier(x.View.Manual(), x.shown(), no, r.Fresh))
}

func (x *Resting) shown() string { return cmp.Or(x.Shown, untrusted.Word(x.View.Dir.Path())) }

func (x *Resting) now() time.Time {
	if x.Now == nil {
		return time.Now()
	}
	return x.Now()
}

// set changes the settings for the next host. No host can start in the meantime.
func (x *Resting) set(r Set) (a Answer, err error) {
	if err := x.mine(); err != nil {
		return a, err
	}
	lock, err := journal.LockBriefly(x.View.Dir.Path(), x.now())
	var held *journal.LockedError
	if errors.As(err, &held) {
		return a, &BusyError{What: x.shown() + ": a host of it is just starting or ending: try again in a moment"}
	}
	if err != nil {
		return a, x.View.Dir.Unwritten(err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := x.View.Dir.Writable(); err != nil {
		return a, err
	}
	file, e, err := runfile.Read(x.View.Dir)
	if err != nil {
		return a, err
	}
	if strings.Contains(e.Storage, "://") {
		return a, fmt.Errorf("%s: the experiment is kept in %s, which only its host writes to: set it while that "+
			"runs, or continue with `tunehost run FILE --set KEY=VALUE`", x.View.Dir.Path(), e.Storage)
	}
	c, err := changed(&kept{x, file, e.Source}, r.Settings)
	if err != nil || len(c.list) == 0 {
		return a, err
	}
	err = errors.Join(x.sameExecutor(e, c.now), x.check(e, c.now), x.View.LookAt(c.count))
	if err != nil {
		return a, err
	}
	err = file.Set(r.Settings, x.now()).Write(x.View.Dir)
	return Answer{Changed: c.list, Warnings: c.warnings}, x.View.Dir.Unwritten(err)
}

// mine refuses the directory of another user, whose run.json would become mine, and one that others can write to.
func (x *Resting) mine() error {
	if err := x.View.Dir.CheckOwnership(); err != nil && !x.TrustDir {
		return usererror.Errorf("%w; where that is meant to be, `tunehost set %s KEY=VALUE --trust-dir` sets it", err,
			x.shown())
	}
	return nil
}

// sameExecutor leaves the executor as it is while leases are held.
func (x *Resting) sameExecutor(was, now *config.Experiment) error {
	held, err := x.View.LeasesHeld()
	if err != nil {
		return err
	}
	if err := SameExecutor(was, now, held); err != nil {
		at, _ := config.OtherExecutor(was, now)
		return fmt.Errorf("%s: %w", strings.TrimPrefix(at.String(), "--set "), err)
	}
	return nil
}

// check returns the mistakes that the new settings have added.
func (x *Resting) check(was, now *config.Experiment) error {
	if x.Check == nil {
		return nil
	}
	err := x.Check.Check(now)
	if err == nil {
		return nil
	}
	var before string
	if err := x.Check.Check(was); err != nil {
		before = err.Error()
	}
	var texts []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !strings.Contains(before, line) {
			texts = append(texts, strings.TrimPrefix(line, "--set "))
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return usererror.Errorf("%s", strings.Join(texts, "; "))
}

// kept is run.json as Settings that are not written back.
type kept struct {
	rests  *Resting
	file   *runfile.File
	source []byte
}

// With is part of Settings.
func (k *kept) With(sets []string) (*config.Experiment, error) {
	return k.file.Set(sets, time.Time{}).Parse(k.source)
}

// Doubts is part of Settings.
func (k *kept) Doubts(e *config.Experiment) []*config.Error {
	if k.rests.Check == nil {
		return e.Warnings
	}
	return k.rests.Check.Doubts(e, k.rests.View.Manual())
}
