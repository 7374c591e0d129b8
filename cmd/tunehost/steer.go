package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/steer/unixsock"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/validate/examine"
	"github.com/tunehost/tunehost/host/view"
)

func (a *app) stopCommand() *cobra.Command {
	return a.steering("stop", "End a running experiment, or one of its trials",
		`End a running experiment, or one of its trials. Results reported so far are kept. TRIAL
is a number or an id. `+"`tunehost resume DIR --unstarted`"+` later runs the trials that had not
started. If you want to continue all trials later, use tunehost interrupt instead.`,
		"stopping", func(h steer.Handler, trial string) error { return carryOut(h, steer.Stop{Trial: trial}) })
}

func (a *app) interruptCommand() *cobra.Command {
	return &cobra.Command{
		Use: "interrupt DIR", Short: "Interrupt an experiment; it can be resumed later",
		Long: `Interrupt an experiment, as Ctrl-C in its terminal does: trials save a checkpoint if
they can, and the host ends with exit status 130. The trials continue when the
experiment is resumed.

If no host runs the experiment, and leases of an executor are left, such as jobs that a
host which died had, the executor is started for a moment and gives them back.`,
		Example: "  tunehost interrupt results/digits\n  tunehost resume results/digits",
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withHere(args[0], "it can be controlled only there", func(e *view.Recorded) error {
				switch n, err := a.toGiveBack(e); {
				case err != nil:
					return err
				case n > 0:
					return a.giveBack(e)
				}
				return a.withHandler(e, func(h steer.Handler) error {
					if err := carryOut(h, steer.Interrupt{}); err != nil {
						return err
					}
					a.say("interrupting the experiment %s; %s resumes it", e.Name,
						view.Resumer(e.Manual(), untrusted.Word(args[0])))
					return nil
				})
			})
		},
	}
}

// toGiveBack returns how many leases an experiment that no host runs has.
func (a *app) toGiveBack(e *view.Recorded) (int, error) {
	if e.State() == view.Running || e.Running() {
		return 0, nil
	}
	return e.ToGiveBack(a.now())
}

// giveBack gives them back.
func (a *app) giveBack(e *view.Recorded) error {
	o := host.Options{Plugins: plugins, Output: host.Output{Stderr: a.err, Verbose: 1}}
	all, err := a.engine.giveBack(context.Background(), e.Dir.Path(), o)
	switch {
	case err != nil:
		return err
	case !all:
		return exitError(exitFailed) // a warning names them
	}
	a.say("%s: its leases are given back", e.Name)
	return nil
}

func (a *app) pauseCommand() *cobra.Command {
	force := false
	cmd := a.steering("pause", "Pause a running experiment, or one of its trials",
		`Pause a running experiment, or one of its trials. A paused trial saves a checkpoint if it
can and releases its resources. TRIAL is a number or an id. A trial that cannot save a
checkpoint loses its progress since the last one: the command says how much, and asks
first.`,
		"pausing", func(h steer.Handler, trial string) error {
			return a.pause(h, steer.Pause{Trial: trial, Force: force})
		})
	cmd.Flags().BoolVar(&force, "force", false, "pause even if progress is lost, without a question")
	return cmd
}

// pause asks before progress is lost.
func (a *app) pause(h steer.Handler, r steer.Pause) error {
	err := carryOut(h, r)
	var loss *steer.LossError
	if !errors.As(err, &loss) {
		return err
	}
	what := clean(loss.What)
	if !a.interactive() {
		return usage("pause: %s; --force pauses anyway", what)
	}
	if !a.ask(what + ". Pause anyway?") {
		return usage("pause: nothing was paused")
	}
	r.Force = true
	return carryOut(h, r)
}

func (a *app) unpauseCommand() *cobra.Command {
	return a.steering("unpause", "Continue what was paused",
		`Continue an experiment, or one of its trials, that was paused. TRIAL is a number or an id. Of an
experiment that was paused as a whole, trials that had been paused one by one stay paused: a warning
names them. In one that was not, all paused trials continue.`,
		"continuing", func(h steer.Handler, trial string) error {
			answer, err := h.Do(steer.Unpause{Trial: trial})
			a.warn(answer.Warnings)
			return err
		})
}

func (a *app) retryCommand() *cobra.Command {
	fresh := false
	cmd := &cobra.Command{
		Use: "retry DIR TRIAL", Short: "Run a failed trial again",
		Long: `Run a failed trial (state ERROR) of a running experiment again, from its last checkpoint.
With --fresh it starts from the beginning, in a new directory; the files of the failed
attempt stay in the old one. TRIAL is a number or an id. If no host is running,
` + "`tunehost resume DIR --retry TRIAL`" + ` does the same.`,
		Example: "  tunehost retry results/digits 17\n  tunehost retry results/digits 17 --fresh",
		Args:    wants(2, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withHere(args[0], "it can be controlled only there", func(e *view.Recorded) error {
				no, err := e.Find(args[1])
				if err != nil {
					return asUsage(err)
				}
				t := e.Trial(no)
				return a.withHandler(e, func(h steer.Handler) error {
					if err := carryOut(h, steer.Retry{Trial: t.ID, Fresh: fresh}); err != nil {
						return err
					}
					a.say("running %s again", title(&t))
					return nil
				})
			})
		},
	}
	cmd.Flags().BoolVar(&fresh, "fresh", false, "start from the beginning, in a new directory")
	return cmd
}

func (a *app) steering(name, short, long, doing string,
	request func(h steer.Handler, trial string) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " DIR [TRIAL]", Short: short, Long: long,
		Example: fmt.Sprintf("  tunehost %s results/digits\n  tunehost %s results/digits 17", name, name),
		Args:    wants(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withHere(args[0], "it can be controlled only there", func(e *view.Recorded) error {
				trial, what := "", "the experiment "+e.Name
				if len(args) == 2 {
					no, err := e.Find(args[1])
					if err != nil {
						return asUsage(err)
					}
					t := e.Trial(no)
					trial, what = t.ID, title(&t)
				}
				return a.withHandler(e, func(h steer.Handler) error {
					if err := request(h, trial); err != nil {
						return err
					}
					a.say("%s %s", doing, what)
					return nil
				})
			})
		},
	}
}

// carryOut is Handler.Do for a request with an answer that nobody needs.
func carryOut(h steer.Handler, r steer.Request) error {
	_, err := h.Do(r)
	return err
}

// withHandler calls f with the steer.Handler of an experiment: its host or, if none runs, one that
// changes the directory.
func (a *app) withHandler(e *view.Recorded, say func(steer.Handler) error) error {
	if e.State() != view.Running {
		return say(&steer.Resting{View: e.Experiment, Shown: untrusted.Word(relative(e.Place())),
			Check: examine.Settings{Plugins: plugins}, Now: a.now})
	}
	c, err := unixsock.Dial(e.Dir)
	if err != nil {
		return err
	}
	defer c.Close()
	a.waiting.on("the host of " + relative(e.Place()) + " to answer")
	return say(c)
}

// relative returns the shortest form of a path from here.
func relative(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

func (a *app) addCommand() *cobra.Command {
	var clone string
	cmd := &cobra.Command{
		Use:   "add DIR NAME=VALUE... | add DIR --clone TRIAL [NAME=VALUE...]",
		Short: "Add a trial to a running experiment",
		Long: `Add a trial to a running experiment. Parameters without a value are sampled. The name of
a nested parameter is GROUP/NAME.

With --clone TRIAL, a number or an id, the new trial starts from that trial's newest
checkpoint, with its parameters except those given; a sample that draws random numbers
keeps its value unless it depends on those. If the experiment runs each suggestion
several times (repeat), the added one runs as often.`,
		Example: "  tunehost add results/digits lr=0.01 optimizer=adam\n  tunehost add results/digits --clone 17 " +
			"lr=0.001",
		Args: wants(1, -1),
		RunE: func(_ *cobra.Command, args []string) error {
			if clone == "" && len(args) < 2 {
				return usage("add: expected NAME=VALUE, or --clone TRIAL")
			}
			params, err := paramsJSON(args[1:])
			if err != nil {
				return err
			}
			return a.withHere(args[0], "it can be controlled only there", func(e *view.Recorded) error {
				return a.add(e,
					clone, params)
			})
		},
	}
	cmd.Flags().StringVar(&clone, "clone", "", "start from the newest checkpoint of `TRIAL`, with its parameters")
	return cmd
}

func (a *app) add(e *view.Recorded, clone string, params []byte) error {
	if _, err := e.Config.ParsePoint("add", params); err != nil {
		return unplaced(err)
	}
	if clone != "" {
		no, err := e.Find(clone)
		if err != nil {
			return asUsage(err)
		}
		clone = fmt.Sprint(no)
	}
	return a.withHandler(e, func(h steer.Handler) error {
		answer, err := h.Do(steer.Add{Params: params, Clone: clone})
		if err == nil {
			a.say("added trial %d", *answer.Trial)
		}
		return err
	})
}

// unplaced removes the places of mistakes: they are not in what the user typed.
func unplaced(err error) error {
	if texts := messages(err); len(texts) > 0 {
		return usage("add: %s", strings.Join(texts, "; "))
	}
	return err
}

// messages are the mistakes of what the user typed, without their places.
func messages(err error) (texts []string) {
	var many config.Errors
	errors.As(err, &many)
	for _, one := range many {
		texts = append(texts, one.Msg)
	}
	return texts
}

// paramsJSON makes a JSON object of NAME=VALUE; a value is read as in an experiment file.
func paramsJSON(pairs []string) ([]byte, error) {
	params := map[string]json.RawMessage{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usage("add: %q: expected NAME=VALUE", pair)
		}
		if _, twice := params[name]; twice {
			return nil, usage("add: %s is given twice", name)
		}
		v, err := config.JSONOf(name, text)
		if err != nil {
			return nil, usage("add: %s: %q is not a value (%s)", name, text, strings.Join(messages(err), "; "))
		}
		params[name] = v
	}
	text, err := json.Marshal(params)
	if err != nil {
		return nil, usage("add: %v", err)
	}
	return text, nil
}
