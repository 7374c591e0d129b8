package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/host/analysis"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/control"
)

func (a *app) stopCommand() *cobra.Command {
	return a.steering("stop", "End a running experiment, or one of its trials",
		"End a running experiment for good, or one of its trials; what it has reported stays.\nTRIAL is a number or an id.",
		"stopping", (*control.Client).Stop)
}

func (a *app) pauseCommand() *cobra.Command {
	return a.steering("pause", "Hold a running experiment, or one of its trials",
		"Hold a running experiment, or one of its trials: it saves a checkpoint where it can\nand gives its resources back. TRIAL is a number or an id.",
		"pausing", (*control.Client).Pause)
}

func (a *app) unpauseCommand() *cobra.Command {
	return a.steering("unpause", "Let go on what was paused",
		"Let go on an experiment, or one of its trials, that was paused. TRIAL is a number or\nan id.",
		"going on with", (*control.Client).Unpause)
}

func (a *app) steering(name, short, long, doing string, do func(c *control.Client, trial string) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " DIR [TRIAL]", Short: short, Long: long,
		Example: fmt.Sprintf("  tunehost %s results/digits\n  tunehost %s results/digits 17", name, name),
		Args:    wants(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withHere(args[0], "only there it can be steered", func(e *analysis.Experiment) error {
				trial, what := "", "the experiment "+e.Name()
				if len(args) == 2 {
					no, err := e.Find(args[1])
					if err != nil {
						return asUsage(err)
					}
					t := e.Trial(no)
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
func (a *app) talk(e *analysis.Experiment, say func(*control.Client) error) error {
	if state := e.State(); state != analysis.Running {
		return fmt.Errorf("%s is %s: there is nothing to steer; `tunehost resume %s` goes on with it", e.Name(), state, e.Place())
	}
	c, err := control.Dial(e.Dir())
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
			return a.withHere(args[0], "only there it can be steered", func(e *analysis.Experiment) error { return a.add(e, clone, params) })
		},
	}
	cmd.Flags().StringVar(&clone, "clone", "", "start from the newest checkpoint of `TRIAL`, with its parameters")
	return cmd
}

func (a *app) add(e *analysis.Experiment, clone string, params []byte) error {
	if _, err := e.Config().Given("add", params); err != nil {
		return unplaced(err)
	}
	if clone != "" {
		no, err := e.Find(clone)
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
			return nil, usage("add: %s: %q is no value", name, text)
		}
		params[name] = v
	}
	text, err := json.Marshal(params)
	if err != nil {
		return nil, usage("add: %v", err)
	}
	return text, nil
}
