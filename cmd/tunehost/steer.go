package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/control"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/view"
)

func (a *app) stopCommand() *cobra.Command {
	return a.steering("stop", "End a running experiment, or one of its trials",
		`End a running experiment for good, or one of its trials; what it has reported stays.
TRIAL is a number or an id. Trials that had not started by then are told apart, and
`+"`tunehost resume DIR --unstarted`"+` runs them after all. To end the host such that everything
goes on later, interrupt it instead.`,
		"stopping", (*control.Client).Stop)
}

func (a *app) interruptCommand() *cobra.Command {
	return &cobra.Command{
		Use: "interrupt DIR", Short: "End the host of an experiment, which can go on later",
		Long: `End the host of an experiment, as Ctrl-C in its terminal does: trials save a checkpoint
where they can, and all goes on when the experiment is resumed. The host's exit status
is 130.`,
		Example: "  tunehost interrupt results/digits\n  tunehost resume results/digits",
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withHere(args[0], "only there it can be steered", func(e *view.Recorded) error {
				return a.talk(e, func(c *control.Client) error {
					if err := c.Interrupt(); err != nil {
						return err
					}
					a.say("interrupting the experiment %s; `tunehost resume %s` goes on with it", e.Name,
						shellWord(args[0]))
					return nil
				})
			})
		},
	}
}

func (a *app) pauseCommand() *cobra.Command {
	force := false
	cmd := a.steering("pause", "Hold a running experiment, or one of its trials",
		`Hold a running experiment, or one of its trials: it saves a checkpoint where it can
and gives its resources back. TRIAL is a number or an id. Where trials cannot save one,
they lose what they have done since their last: it says how much, and asks first.`,
		"pausing", func(c *control.Client, trial string) error { return a.pause(c, trial, force) })
	cmd.Flags().BoolVar(&force, "force", false, "also where progress is lost by it")
	return cmd
}

// pause asks before anything is lost.
func (a *app) pause(c *control.Client, trial string, force bool) error {
	err := c.Pause(trial, force)
	var loss *steer.LossError
	if !errors.As(err, &loss) {
		return err
	}
	what := clean(loss.What)
	if !a.interactive() {
		return usage("pause: %s; with --force it is paused all the same", what)
	}
	if !a.ask(what + ". Pause all the same?") {
		return usage("pause: nothing was paused")
	}
	return c.Pause(trial, true)
}

func (a *app) unpauseCommand() *cobra.Command {
	return a.steering("unpause", "Let go on what was paused",
		"Let go on an experiment, or one of its trials, that was paused. TRIAL is a number or\nan id. Without it trials that were paused one by one go on, too.",
		"going on with", (*control.Client).Unpause)
}

func (a *app) retryCommand() *cobra.Command {
	fresh := false
	cmd := &cobra.Command{
		Use: "retry DIR TRIAL", Short: "Run a failed trial again",
		Long: `Run a trial in ERROR again, in an experiment that is running: from its last checkpoint,
or with --fresh from its beginning in a new directory; what the failed attempt left stays
in the old one. TRIAL is a number or an id. Where no host is running,
` + "`tunehost resume DIR --retry TRIAL`" + ` does the same.`,
		Example: "  tunehost retry results/digits 17\n  tunehost retry results/digits 17 --fresh",
		Args:    wants(2, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withHere(args[0], "only there it can be steered", func(e *view.Recorded) error {
				no, err := e.Now().Find(args[1])
				if err != nil {
					return asUsage(err)
				}
				t := e.Now().Trial(no)
				if t.State.Final() && t.State != core.Errored {
					return usage("retry: %s is %s: only a trial in ERROR can be run again", title(&t), t.State)
				}
				if e.State() != view.Running {
					return fmt.Errorf("%s is %s: `%s` runs the trial again", e.Name, e.State(), retryLater(args[0],
						no, fresh))
				}
				return a.talk(e, func(c *control.Client) error {
					if err := c.Retry(t.ID, fresh); err != nil {
						return err
					}
					a.say("running %s again", title(&t))
					return nil
				})
			})
		},
	}
	cmd.Flags().BoolVar(&fresh, "fresh", false, "from its beginning, in a new directory")
	return cmd
}

// retryLater is the command for an experiment that no host runs.
func retryLater(dir string, no core.TrialNo, fresh bool) string {
	text := fmt.Sprintf("tunehost resume %s --retry %d", shellWord(dir), no)
	if fresh {
		text += " --fresh"
	}
	return text
}

func (a *app) steering(name, short, long, doing string, do func(c *control.Client, trial string) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " DIR [TRIAL]", Short: short, Long: long,
		Example: fmt.Sprintf("  tunehost %s results/digits\n  tunehost %s results/digits 17", name, name),
		Args:    wants(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withHere(args[0], "only there it can be steered", func(e *view.Recorded) error {
				trial, what := "", "the experiment "+e.Name
				if len(args) == 2 {
					no, err := e.Now().Find(args[1])
					if err != nil {
						return asUsage(err)
					}
					t := e.Now().Trial(no)
					trial, what = t.ID, title(&t)
				}
				return a.talk(e, func(c *control.Client) error {
					if err := do(c, trial); err != nil {
						return err
					}
					a.say("%s %s", doing, what)
					return nil
				})
			})
		},
	}
}

// talk has one talk with the host.
func (a *app) talk(e *view.Recorded, say func(*control.Client) error) error {
	if state := e.State(); state != view.Running {
		goOn := ""
		if state == view.Interrupted || state == core.Failed.String() {
			goOn = fmt.Sprintf("; `tunehost resume %s` goes on with it", shellWord(e.Place()))
		}
		return fmt.Errorf("%s is %s: there is nothing to steer%s", e.Name, state, goOn)
	}
	c, err := control.Dial(e.Dir)
	if err != nil {
		return err
	}
	defer c.Close()
	return say(c)
}

func (a *app) addCommand() *cobra.Command {
	var clone string
	cmd := &cobra.Command{
		Use:   "add DIR NAME=VALUE... | add DIR --clone TRIAL [NAME=VALUE...]",
		Short: "Add a trial to a running experiment",
		Long: `Add a trial to a running experiment. Parameters that are not given are sampled; a
nested one is GROUP/NAME=VALUE.

With --clone it has the parameters of another trial, a number or an id, but for those
given, and starts from that one's newest checkpoint. Where the experiment runs each
suggestion several times (repeat), so it does with what is added.`,
		Example: "  tunehost add results/digits lr=0.01 optimizer=adam\n  tunehost add results/digits --clone 17 lr=0.001",
		Args:    wants(1, -1),
		RunE: func(_ *cobra.Command, args []string) error {
			if clone == "" && len(args) < 2 {
				return usage("add: expected NAME=VALUE, or --clone TRIAL")
			}
			params, err := paramsJSON(args[1:])
			if err != nil {
				return err
			}
			return a.withHere(args[0], "only there it can be steered", func(e *view.Recorded) error {
				return a.add(e,
					clone, params)
			})
		},
	}
	cmd.Flags().StringVar(&clone, "clone", "", "start from the newest checkpoint of `TRIAL`, with its parameters")
	return cmd
}

func (a *app) add(e *view.Recorded, clone string, params []byte) error {
	if _, err := e.Config.Given("add", params); err != nil {
		return unplaced(err)
	}
	if clone != "" {
		no, err := e.Now().Find(clone)
		if err != nil {
			return asUsage(err)
		}
		clone = fmt.Sprint(no)
	}
	return a.talk(e, func(c *control.Client) error {
		add := c.Add
		if clone != "" {
			add = func(params []byte) (uint32, error) { return c.Clone(clone, params) }
		}
		no, err := add(params)
		if err == nil {
			a.say("added trial %d", no)
		}
		return err
	})
}

// unplaced leaves out the places of mistakes: they are not those of what the
// user typed.
func unplaced(err error) error {
	var many config.Errors
	if !errors.As(err, &many) {
		return err
	}
	var texts []string
	for _, one := range many {
		texts = append(texts, one.Msg)
	}
	return usage("add: %s", strings.Join(texts, "; "))
}

// paramsJSON makes a JSON object of NAME=VALUE; a value is read as in an
// experiment file.
func paramsJSON(pairs []string) ([]byte, error) {
	params := map[string]any{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usage("add: %q: expected NAME=VALUE", pair)
		}
		if _, twice := params[name]; twice {
			return nil, usage("add: %s is given twice", name)
		}
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			return nil, usage("add: %s: %q is not a value", name, text)
		}
		params[name] = v
	}
	text, err := json.Marshal(params)
	if err != nil {
		return nil, usage("add: %v", err)
	}
	return text, nil
}
