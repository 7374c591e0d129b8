package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
)

func (a *app) setCommand() *cobra.Command {
	var o host.Options
	cmd := &cobra.Command{
		Use:   "set DIR KEY=VALUE...",
		Short: "Change settings of an experiment",
		Long: `Change settings of an experiment, as run --set does when an experiment is resumed.

While a host runs the experiment, these settings can change, and they change at once:
trials, concurrency, budget.time, budget.trials_failed, failures, stop.iteration and
stop.time. While no host runs it, every setting can change that run --set can change
without --extend; the next host reads them. If a setting cannot change, such as the
objective, the command fails and changes nothing.

The recorded file stays as it is: the settings are kept beside it, in run.json. They also
hold for ` + "`tunehost run FILE`" + `, unless the value of that setting in FILE has changed since.`,
		Example: "  tunehost set results/digits trials=200 concurrency=4\n  tunehost set results/digits budget.time=2h",
		Args:    wants(2, -1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withHere(args[0], "it can be controlled only there",
				func(e *view.Recorded) error { return a.set(e, args[1:], o.TrustDir) })
		},
	}
	trustDirFlag(cmd.Flags(), &o)
	return cmd
}

func (a *app) set(e *view.Recorded, settings []string, trust bool) error {
	for _, s := range settings {
		if key, _, ok := strings.Cut(s, "="); !ok || key == "" {
			return usage("set: %q: expected KEY=VALUE", s)
		}
	}
	return a.withHandler(e, func(h steer.Handler) error {
		if rests, ok := h.(*steer.Resting); ok {
			rests.TrustDir = trust
		}
		answer, err := h.Do(steer.Set{Settings: settings})
		if err == nil {
			a.sayChanged(e, &answer)
		}
		return err
	})
}

func (a *app) sayChanged(e *view.Recorded, answer *steer.Answer) {
	if len(answer.Changed) == 0 {
		a.say("nothing changed: %s has these settings already", e.Name)
	}
	for _, x := range answer.Changed {
		a.say("%s: %s -> %s", clean(x.Key), orNone(x.Old), orNone(x.New))
	}
	a.warn(answer.Warnings)
	if answer.Later && len(answer.Changed) > 0 {
		a.say("%s applies them", view.Resumer(e.Manual(), untrusted.Word(relative(e.Place()))))
	}
}

// orNone writes a value for people.
func orNone(json []byte) string { return cmp.Or(clean(string(json)), "nothing") }

// warn prints the warnings of an answer.
func (a *app) warn(texts []string) {
	for _, text := range texts {
		fmt.Fprintf(a.err, "warning: %s\n", clean(text))
	}
}
