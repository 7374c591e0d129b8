package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/view"
)

// Shells ask for the words that may come next: names of experiments, trials, metrics, parameters and
// plugins. An experiment that cannot be read gives no words, because completion reports no errors.

// completions are the possible next words, each optionally followed by a tab and a description.
type completions = []string

// maxWords is how many trials are offered.
const maxWords = 500

// completions adds completions of arguments and flags to the commands.
func (a *app) completions(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		use := strings.Fields(cmd.Use)
		switch {
		case len(use) < 2:
		case use[1] == "FILE" || use[1] == "FILE|-" || use[1] == "[FILE]":
			cmd.ValidArgsFunction = yamlFiles
		case use[1] == "DIR" || use[1] == "[DIR]":
			cmd.ValidArgsFunction = a.inDir(cmd.Name())
		}
		a.completeFlags(cmd)
	}
	if describe, _, err := root.Find([]string{"plugins", "describe"}); err == nil {
		describe.ValidArgsFunction = a.pluginNames
	}
	if c, _, err := root.Find([]string{"conformance"}); err == nil {
		c.ValidArgsFunction = a.pluginNames
	}
}

func yamlFiles(_ *cobra.Command, args []string, _ string) (completions, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completions{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// inDir completes an experiment's directory, then the command's arguments for it.
func (a *app) inDir(command string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) (completions, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return experimentDirs(begun)
		case command == "add":
			return a.look(args[0], paramWords), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		case len(args) == 1 && trialStates[command] != nil:
			return a.look(args[0], trialWords(trialStates[command])), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

var anyState = []core.State{core.Pending, core.Running, core.Paused, core.Terminated, core.Errored}

func stateWords() (list completions) {
	for _, state := range view.States {
		list = append(list, state.String())
	}
	return list
}

// trialStates are the states of the trials that a command accepts.
var trialStates = map[string][]core.State{
	"stop": {core.Pending, core.Running, core.Paused}, "pause": {core.Pending, core.Running}, "unpause": {core.Paused},
	"retry": {core.Errored}, "logs": anyState, "results": anyState, "journal": anyState, "lineage": anyState,
}

// experimentDirs returns those in the directory that is being typed, or in ./results; if there are
// none, any directory will do.
func experimentDirs(begun string) (completions, cobra.ShellCompDirective) {
	parent := filepath.Dir(begun)
	if strings.HasSuffix(begun, "/") {
		parent = filepath.Clean(begun)
	}
	var dirs completions
	for _, place := range slices.Compact([]string{parent, "results"}) {
		found, _ := experiments(place) // an unreadable folder has none
		for _, dir := range found {
			if strings.HasPrefix(dir, begun) && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	if len(dirs) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return dirs, cobra.ShellCompDirectiveNoFileComp
}

// look reads an experiment of this machine for completion.
func (a *app) look(dir string, read func(*view.Recorded) completions) completions {
	if mirror.IsURL(dir) {
		return nil
	}
	e, err := view.Open(dir)
	if err != nil {
		return nil
	}
	defer e.Close()
	return read(e)
}

// trialWords returns the numbers of trials, the newest first, with their states and parameters.
func trialWords(states []core.State) func(*view.Recorded) completions {
	return func(e *view.Recorded) (list completions) {
		for no := core.TrialNo(e.Count()); no > 0 && len(list) < maxWords; no-- {
			t := e.Trial(no - 1)
			if slices.Contains(states, t.State) {
				list = append(list, fmt.Sprintf("%d\t%s %s %s", t.Number, t.ID, t.State, paramsOf(e, &t)))
			}
		}
		return list
	}
}

func paramsOf(e *view.Recorded, t *view.Trial) string {
	values, told := e.Config.Values(t.Params), tellersOf(e.Experiment)
	var parts []string
	for i := range e.Config.Space.Params {
		name := e.Config.Space.Params[i].Name
		if v, ok := values[name]; ok {
			parts = append(parts, name+"="+told.Text(name, v))
		}
	}
	return clean(strings.Join(parts, " "))
}

// paramWords returns the beginnings of NAME=VALUE.
func paramWords(e *view.Recorded) (list completions) {
	for i := range e.Config.Space.Params {
		list = append(list, clean(e.Config.Space.Params[i].Name)+"=")
	}
	return list
}

func metricWords(e *view.Recorded) completions { return cleaned(e.MetricNames()) }

// sortWords returns the keys by which trials can be sorted.
func sortWords(e *view.Recorded) completions {
	return cleaned(slices.Concat(e.MetricNames(), e.ParamNames(), view.SortKeys))
}

// cleaned escapes names that programs can influence, for a shell's menu.
func cleaned(names []string) (list completions) {
	for _, name := range names {
		list = append(list, clean(name))
	}
	return list
}

// completeFlags completes flags whose values are names.
func (a *app) completeFlags(cmd *cobra.Command) {
	fixed := map[string]completions{"resume": resumeModes,
		"scope": {"last", "min", "max", "mean", "mean5", "mean10", "all"},
		"mode":  {"min", "max"}}
	if cmd.Flags().Lookup("state") != nil {
		_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(stateWords(),
			cobra.ShellCompDirectiveNoFileComp))
	}
	read := map[string]func(*view.Recorded) completions{"metric": metricWords, "sort": sortWords,
		"retry": trialWords([]core.State{core.Errored}), "clone": trialWords(anyState)}
	for name, list := range fixed {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	for name, f := range read {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, a.ofDir(f))
		}
	}
}

// ofDir completes a flag from the experiment that the command line names before it.
func (a *app) ofDir(read func(*view.Recorded) completions) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) (completions, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.look(args[0], read), cobra.ShellCompDirectiveNoFileComp
	}
}

// pluginNames returns the plugins that can be found here; a path will do, too.
func (a *app) pluginNames(_ *cobra.Command, args []string, _ string) (list completions, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	f, err := found()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	all, _ := f.All()
	for i := range all {
		list = append(list, clean(all[i].Name))
	}
	return list, cobra.ShellCompDirectiveDefault
}
