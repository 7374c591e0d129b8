package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/find"
	"github.com/tunehost/tunehost/host/plugin/loading"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func (a *app) pluginsCheckCommand() *cobra.Command {
	var f conformanceFlags
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "check PATH",
		Short: "Run a few basic checks of a plugin",
		Long: `Run a few basic checks of a plugin: its description and options, whether it opens, and a
few calls. These are the first checks of tunehost conformance. They take a second or two;
use them while you write a plugin. Their spaces and trials are their own, not those of an
experiment: a searcher has to read its parameters from the problem.

Exit status: 0 all checks pass, 1 one fails or could not be made, 2 a mistake on the command line.`,
		Example: `  tunehost plugins check ./plugins/mine --options '{"spread": 0.1}'`,
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			o := f.run()
			o.Quick, o.Deadline = true, timeout
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return a.checkPlugin(ctx, args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.options, "options", "{}", "the plugin's options, a `JSON` object")
	flags.StringVar(&f.params, "params", "{}",
		"parameters that a trainable can train with, a `JSON` object")
	flags.DurationVar(&timeout, "timeout", time.Minute, "time limit of each check")
	return cmd
}

// starting returns a function that starts one plugin, any number of times. The user is told of the first start that
// takes long.
func (a *app) starting(p *find.Found) func(context.Context, sdk.Kind) (plugin.Plugin, error) {
	after, text := loading.SlowStart(p)
	tell := sync.OnceFunc(func() { fmt.Fprintln(a.err, text) })
	return func(ctx context.Context, kind sdk.Kind) (plugin.Plugin, error) {
		defer a.later(after, tell)()
		return loading.StartOutside(ctx, plugins, p, kind, a.start)
	}
}

// checkPlugin tries a plugin as every kind that it is.
func (a *app) checkPlugin(ctx context.Context, name string, o conformance.Options) error {
	p, err := findPlugin(name)
	if err != nil {
		return err
	}
	start := a.starting(p)
	a.waiting.on("the plugin " + name + " to start")
	infos, err := infosOf(ctx, start, p.Kind)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		a.say("FAILED  it does not start: %s", clean(strings.ReplaceAll(err.Error(), "\n", "; ")))
		return exitError(exitFailed)
	}
	var failed error
	for i, info := range infos {
		if i > 0 {
			a.say("")
		}
		if text := loading.Differences(p.Folder, info); text != "" {
			a.say("warning: %s", clean(text))
		}
		open := func(ctx context.Context) (plugin.Plugin, error) { return start(ctx, info.Kind) }
		if err := a.tryAs(ctx, info, open, o); err != nil {
			failed = err
		}
	}
	return failed
}

// tryAs tries a plugin as one kind.
func (a *app) tryAs(ctx context.Context, info sdk.Info, open conformance.Open, o conformance.Options) error {
	quick := slices.DeleteFunc(conformance.Checks(info.Kind), func(c conformance.Check) bool { return c.Quick == nil })
	return a.checks(ctx, starter{info.Kind, info.Name, open}, quick, o, false)
}

// several is a plugin that may be of several kinds.
type several interface{ Infos() []sdk.Info }

// infosOf starts a plugin and asks it to describe itself.
func infosOf(
	ctx context.Context, start func(context.Context, sdk.Kind) (plugin.Plugin, error), kind sdk.Kind,
) ([]sdk.Info, error) {
	p, err := start(ctx, kind)
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Close() }()
	if s, ok := p.(several); ok {
		return slices.Clone(s.Infos()), nil
	}
	info, err := p.Describe(ctx)
	return []sdk.Info{info}, err
}

// run returns the options of a run of the suite.
func (f *conformanceFlags) run() conformance.Options {
	return conformance.Options{
		Options: json.RawMessage(f.options), Params: json.RawMessage(f.params), Only: f.only, Short: f.short,
	}
}
