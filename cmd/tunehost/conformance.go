package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// conformanceFlags are the flags of the command.
type conformanceFlags struct {
	options, params, kind, only string
	json, list, short           bool
}

func (a *app) conformanceCommand() *cobra.Command {
	var f conformanceFlags
	cmd := &cobra.Command{
		Use:   "conformance PATH|NAME",
		Short: "Check that a plugin follows the rules",
		Long: `Check that a plugin, the program at PATH or the bundled plugin NAME, follows the rules for
plugins. The command tests each rule in small simulated experiments.

Exit status: 0 all checks pass, 1 a rule is broken or could not be checked, 2 a mistake on the command line.`,
		Example: `  tunehost conformance ./my-searcher
  tunehost conformance ./train.py --params '{"lr": 0.1}'
  tunehost conformance asha --options '{"type": "promotion"}' --only scheduler/ends
  tunehost conformance --list --only trainable`,
		Args: wants(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			switch {
			case f.list:
				return a.listChecks(ctx, f, args)
			case len(args) == 0:
				return usage("conformance: a plugin is missing; expected: tunehost conformance PATH|NAME")
			}
			return a.conformance(ctx, f, args[0])
		},
	}
	cmd.Flags().StringVar(&f.options, "options", "", "the plugin's options, a `JSON` object")
	cmd.Flags().StringVar(&f.params, "params", "", "parameters that a trainable can train with, a `JSON` object")
	cmd.Flags().StringVar(&f.kind, "kind", "",
		"`KIND`: "+sdk.AnyKind()+"; needed if the program or the name has several")
	cmd.Flags().StringVar(&f.only, "only", "",
		"run only these `CHECKS`: one, a folder (searcher/given) or a pattern with *")
	cmd.Flags().BoolVar(&f.short, "short", false, "use smaller experiments")
	cmd.Flags().BoolVar(&f.list, "list", false, "print the checks without running them")
	jsonFlag(cmd.Flags(), &f.json, "print one JSON object a line for each check, then a summary")
	return cmd
}

// listChecks prints checks: those for a plugin, or all.
func (a *app) listChecks(ctx context.Context, f conformanceFlags, args []string) error {
	kinds := sdk.Kinds()
	if len(args) == 1 {
		s, err := a.starter(ctx, args[0], f.kind)
		if err != nil {
			return err
		}
		kinds = []sdk.Kind{s.kind}
	}
	var checks []conformance.Check
	for _, k := range kinds {
		some, err := conformance.Select(conformance.Checks(k), f.only)
		if err != nil {
			return asUsage(err)
		}
		checks = append(checks, some...)
	}
	if len(checks) == 0 {
		return noCheck(f.only, kinds)
	}
	for _, c := range checks {
		if f.json {
			if err := a.line(listedCheck{c.Name, c.Rule, c.Source}); err != nil {
				return err
			}
			continue
		}
		a.say("%s\n    %s (%s)", a.bold(c.Name), c.Rule, strings.Join(c.Source, ", "))
	}
	return nil
}

// listedCheck has the stable shape of `conformance --list --json`.
type listedCheck struct {
	Check  string   `json:"check"`
	Rule   string   `json:"rule"`
	Source []string `json:"source"`
}

func noCheck(only string, kinds []sdk.Kind) error {
	var names []string
	for _, k := range kinds {
		for _, c := range conformance.Checks(k) {
			names = append(names, c.Name)
		}
	}
	hint := nearest.Hint(only, names)
	kind, _, _ := strings.Cut(only, "/")
	switch {
	case hint != "":
	case slices.Contains(sdk.Kinds(), sdk.Kind(kind)) && !slices.Contains(kinds, sdk.Kind(kind)):
		hint = fmt.Sprintf(" for this plugin: it is %s, and %s are checks of %s", kinds[0].WithArticle(), only,
			sdk.Kind(kind).WithArticle())
	default:
		hint = "; `tunehost conformance --list` lists them"
	}
	return usage("no check is named %q%s", only, hint)
}

// starter says how to start a plugin under test.
type starter struct {
	kind sdk.Kind
	name string
	open conformance.Open
}

// starter finds the plugin of the command's argument, a name or a path.
func (a *app) starter(ctx context.Context, arg, kind string) (starter, error) {
	p, err := findKind(arg, sdk.Kind(kind))
	if err != nil {
		return starter{}, err
	}
	s := starter{p.Kind, p.Name, nil}
	if kind != "" {
		s.kind = sdk.Kind(kind)
	}
	start := a.starting(p)
	if s.kind == "" {
		if s.kind, err = kindOf(ctx, start); err != nil {
			return starter{}, asUsage(err)
		}
	}
	s.open = func(ctx context.Context) (plugin.Plugin, error) { return start(ctx, s.kind) }
	return s, nil
}

// kindOf asks a plugin for its kind.
func kindOf(ctx context.Context, start func(context.Context, sdk.Kind) (plugin.Plugin, error)) (sdk.Kind, error) {
	p, err := start(ctx, "")
	if err != nil {
		return "", err
	}
	info, err := p.Describe(ctx)
	return info.Kind, errors.Join(err, p.Close())
}

func (f *conformanceFlags) check() error {
	for name, text := range map[string]string{"--options": f.options, "--params": f.params} {
		var object map[string]json.RawMessage
		if text != "" && (json.Unmarshal([]byte(text), &object) != nil || object == nil) {
			return usage("%s is not a JSON object: %s", name, text)
		}
	}
	for _, k := range sdk.Kinds() {
		if f.kind == "" || f.kind == string(k) {
			return nil
		}
	}
	return usage("conformance: --kind is %q; expected: %s", f.kind, sdk.AnyKind())
}

// summary has the stable shape of the last line of `conformance --json`.
type summary struct {
	Plugin        string   `json:"plugin"`
	Kind          sdk.Kind `json:"kind"`
	Passed        int      `json:"passed"`
	Failed        int      `json:"failed"`
	NotApplicable int      `json:"not_applicable"`
	Late          int      `json:"late,omitempty"`
	Seconds       float64  `json:"seconds"`

	refused int // those that are not applicable because the plugin refuses the problem
}

// add counts a result.
func (s *summary) add(r conformance.Result) {
	switch r.Outcome {
	case conformance.Passed:
		s.Passed++
	case conformance.Failed:
		s.Failed++
	case conformance.Late:
		s.Late++
	default:
		s.NotApplicable++
		if r.Refused {
			s.refused++
		}
	}
}

func (a *app) conformance(ctx context.Context, f conformanceFlags, arg string) error {
	if err := f.check(); err != nil {
		return err
	}
	s, err := a.starter(ctx, arg, f.kind)
	if err != nil {
		return err
	}
	chosen, err := conformance.Select(conformance.Checks(s.kind), f.only)
	if err != nil {
		return asUsage(err)
	}
	if len(chosen) == 0 {
		return noCheck(f.only, []sdk.Kind{s.kind})
	}
	if err := f.fits(ctx, s); err != nil {
		return err
	}
	return a.checks(ctx, s, chosen, f.run(), f.json)
}

// fits refuses flags that the plugin cannot use: parameters of a plugin that trains nothing, and options that it does
// not have.
func (f *conformanceFlags) fits(ctx context.Context, s starter) error {
	if f.params != "" && s.kind != sdk.KindTrainable {
		return usage("conformance: --params is for trainables, and %s is %s; leave it out", s.name,
			s.kind.WithArticle())
	}
	if f.options == "" {
		return nil
	}
	p, err := s.open(ctx)
	if err != nil {
		return err
	}
	info, err := p.Describe(ctx)
	if err = errors.Join(err, p.Close()); err != nil {
		return nil // the checks say so
	}
	ref := config.RefWith(s.name, "--options", []byte(f.options))
	if errs := config.CheckOptions(ref, info.Options); len(errs) > 0 {
		return asUsage(errors.Join(errs...))
	}
	return nil
}

// checks runs checks and reports their results.
func (a *app) checks(
	ctx context.Context, s starter, chosen []conformance.Check, o conformance.Options, asJSON bool,
) error {
	begun := a.now()
	sum := summary{Plugin: s.name, Kind: s.kind}
	view := a.viewOf(chosen, asJSON)
	var printed error
	left := chosen
	next := func() {
		if len(left) > 0 && !asJSON {
			a.waiting.on("the check " + left[0].Name)
			left = left[1:]
		}
	}
	next()
	if err := conformance.Warm(ctx, s.open); err != nil {
		return err
	}
	err := conformance.Run(ctx, s.kind, s.open, o, func(r conformance.Result) {
		if ctx.Err() != nil {
			return // the run was cut short
		}
		sum.add(r)
		printed = errors.Join(printed, view(r))
		next()
	})
	if err = errors.Join(err, printed); err != nil {
		return err
	}
	sum.Seconds = a.now().Sub(begun).Seconds()
	return a.concluded(sum, asJSON, len(o.Options) > 0)
}

// viewOf shows results as they come.
func (a *app) viewOf(checks []conformance.Check, asJSON bool) func(conformance.Result) error {
	if asJSON {
		return func(r conformance.Result) error { return a.line(r) }
	}
	width := 0
	for _, c := range checks {
		width = max(width, len(c.Name))
	}
	return func(r conformance.Result) error { return a.showResult(r, width) }
}

// showResult prints a line, and for a failed check what it looked for.
func (a *app) showResult(r conformance.Result, width int) error {
	mark, note := "passed", fmt.Sprintf("%6.2f s", r.Seconds)
	switch r.Outcome {
	case conformance.Failed:
		mark = "FAILED"
	case conformance.NotApplicable:
		mark, note = "n/a", clean(r.Why)
	case conformance.Late:
		mark, note = "LATE", note+"  it could not be checked: "+clean(r.Why)
	}
	a.say("%-6s  %-*s  %s", mark, width, r.Check, note)
	if r.Outcome != conformance.Failed {
		return nil
	}
	a.say("        rule  %s\n        from  %s", r.Rule, strings.Join(r.Source, ", "))
	a.say("        want  %s\n        saw   %s", clean(r.Want), clean(r.Saw))
	return nil
}

// concluded prints the summary. options says that the user has given some: a plugin that refuses them in all checks is
// not checked.
func (a *app) concluded(s summary, asJSON, options bool) error {
	if asJSON {
		if err := a.line(map[string]summary{"summary": s}); err != nil {
			return err
		}
	} else {
		took := time.Duration(s.Seconds * float64(time.Second)).Round(100 * time.Millisecond)
		late := ""
		if s.Late > 0 {
			late = fmt.Sprintf(", %d could not be checked (late)", s.Late)
		}
		a.say("\n%s", a.bold(fmt.Sprintf("%s %s: %d passed, %d failed, %d not applicable (n/a)%s, in %v", s.Kind,
			s.Plugin, s.Passed, s.Failed, s.NotApplicable, late, took)))
		if s.Late > 0 {
			a.say("a plugin that is late has broken no rule: check it again when the machine is less busy")
		}
	}
	if options && s.refused > 0 && s.refused == s.NotApplicable && s.Passed+s.Failed+s.Late == 0 {
		return fmt.Errorf("nothing was checked: %s %s refuses every problem with these --options", s.Kind, s.Plugin)
	}
	if s.Failed+s.Late > 0 {
		return exitError(exitFailed)
	}
	return nil
}
