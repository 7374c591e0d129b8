package host

import (
	"cmp"
	"context"
	"io"

	"github.com/tunehost/tunehost/host/compose"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/local/reaper"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/plugin/lockfile"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/prepare"
	"github.com/tunehost/tunehost/host/storage/crash"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/validate"
)

// Options are settings that are not in the experiment file. The zero value runs an
// experiment as its file says, and prints nothing.
type Options = options.Options

// Output says what a host prints, and where.
type Output = options.Output

// Again selects ended trials that run again (B-082).
type Again = options.Again

// Ended is the result of a run.
type Ended = options.Ended

// Exit passes the user's signals to a running host.
type Exit = options.Exit

// NewExit returns an Exit that prints to out while no host shows a table.
func NewExit(out io.Writer) *Exit { return options.NewExit(out) }

// LastWord is how long a host that must end immediately may take for its summary.
const LastWord = options.LastWord

// UserError is a mistake that the user can correct: exit status 2.
type UserError = usererror.Error

// FailedError is a failure of the host itself, which is a bug in tunehost.
type FailedError = crash.Error

// Version returns the version of tunehost in this program.
func Version() string { return lockfile.Version() }

// Run runs an experiment, or resumes it if its directory exists. It returns when the
// experiment has ended. When the context ends, the experiment is interrupted: it is saved
// and can be resumed. An error says that it could not start, or could not be recorded; all other
// outcomes are in [Ended]. Several experiments may run in one program at the same time.
func Run(ctx context.Context, x Experiment, o Options) (Ended, error) {
	o.File, o.Mode.Source = x.file, x.text
	return run(ctx, o)
}

// run runs the experiment that the options name.
func run(ctx context.Context, o Options) (Ended, error) {
	setDefaults(&o)
	p, err := prepare.FromFile(ctx, o)
	if err != nil {
		return Ended{}, err
	}
	o.Sets = p.Heard(o.Sets)
	return runPlan(ctx, p, o)
}

// Resume resumes the experiment in a directory, as it was recorded.
func Resume(ctx context.Context, path string, o Options) (Ended, error) {
	setDefaults(&o)
	p, err := prepare.FromDir(ctx, path, &o)
	if err != nil {
		return Ended{}, err
	}
	return runPlan(ctx, p, o)
}

// GiveBack gives back all leases of the experiment in a directory, which no host runs. If the executor does not confirm
// that all are over, all is false, and a warning says what can be done about them.
func GiveBack(ctx context.Context, path string, o Options) (all bool, err error) {
	setDefaults(&o)
	p, err := prepare.FromDir(ctx, path, &o)
	if err != nil {
		return false, err
	}
	return compose.GiveBack(ctx, p, o)
}

// runPlan runs a prepared experiment until its end.
func runPlan(ctx context.Context, p *prepare.Plan, o Options) (ended Ended, err error) {
	s, err := compose.Begin(ctx, p, o, compose.How{})
	if err != nil {
		return Ended{}, err
	}
	defer func() {
		unclosed := s.Close()
		err = cmp.Or(err, unclosed)
	}()
	return s.Run(ctx)
}

// Validate checks an experiment file as far as that is possible without a trial, as
// [validate.Experiment] does. The summary says how many trials there would be, and who decides about them.
func Validate(ctx context.Context, o Options) (summary string, err error) {
	e, err := prepare.Load(ctx, &o)
	if err != nil {
		return "", err
	}
	return validate.Summary(e), validate.Experiment(ctx, &o, e)
}

// EnoughThreads returns an error if the limit of processes leaves this one too few threads for anything.
func EnoughThreads() error { return local.Threads() }

// Abort kills all started processes and returns; recorded events are kept.
func Abort() {
	reaper.KillAll() // first: it finds what has left its process group
	process.KillAll()
	crash.Leave()
}
