package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin/find"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

func (a *app) pluginsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugins",
		Short: "List, describe, check and create plugins",
		Long: `List, describe, check and create plugins. Plugins come with tunehost or are found in
folders: ./plugins, the folder plugins beside an experiment file, the folders that the
file names, and the user's own folder (tunehost doctor prints it).`,
		Example: "  tunehost plugins list\n  tunehost plugins describe asha\n  tunehost plugins new --kind searcher " +
			"--lang go plugins/mine",
		Args: wants(0, 0),
		RunE: func(*cobra.Command, []string) error { return a.listPlugins(false) },
	}
	cmd.AddCommand(a.pluginsListCommand(), a.pluginsDescribeCommand(), a.pluginsCheckCommand(), a.pluginsNewCommand(),
		a.pluginsDocsCommand())
	return cmd
}

func (a *app) pluginsListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List plugins, without running any",
		Long: `List the plugins that come with tunehost, those in ./plugins, and those in the user's
folder. None is run. The kind is ? if only the plugin itself can tell it.`,
		Example: "  tunehost plugins list --json | jq -r 'select(.kind == \"searcher\").name'",
		Args:    wants(0, 0),
		RunE:    func(*cobra.Command, []string) error { return a.listPlugins(asJSON) },
	}
	jsonFlag(cmd.Flags(), &asJSON, "print one JSON object a line for each plugin")
	return cmd
}

// listedPlugin has the stable shape of `plugins list --json`.
type listedPlugin struct {
	Name      string   `json:"name"`
	Kind      sdk.Kind `json:"kind"`
	Version   string   `json:"version"`
	Transport string   `json:"transport"`
	Path      string   `json:"path"`
	SHA256    string   `json:"sha256"`
	Summary   string   `json:"summary"`
}

// found finds the plugins around the working directory.
func found() (*find.Finder, error) { return find.New(plugins, ".", nil, config.Pos{}) }

func (a *app) listPlugins(asJSON bool) error {
	f, err := found()
	if err != nil {
		return err
	}
	all, problems := f.All()
	all = slices.Insert(all, bundledOf(all), ownParts()...)
	var list []listedPlugin
	for i := range all {
		one, err := entryOf(&all[i])
		if err != nil {
			problems = append(problems, err)
		}
		list = append(list, one)
	}
	for _, p := range problems {
		a.explain(p)
	}
	if !asJSON {
		return a.pluginTable(list)
	}
	for _, one := range list {
		if err := a.line(one); err != nil {
			return err
		}
	}
	return nil
}

// bundledOf is how many plugins at the beginning of a list are in this program.
func bundledOf(list []find.Found) int {
	if i := slices.IndexFunc(list, func(f find.Found) bool { return f.Folder != nil }); i >= 0 {
		return i
	}
	return len(list)
}

// ownParts are the parts of the host that experiment files name like plugins.
func ownParts() (list []find.Found) {
	for i := range ownPlugins {
		list = append(list, find.Found{Kind: ownPlugins[i].Kind, Name: ownPlugins[i].Name, Bundled: &ownPlugins[i]})
	}
	return list
}

// entryOf describes a plugin without running it. Bundled ones are in this program.
func entryOf(f *find.Found) (l listedPlugin, err error) {
	l = listedPlugin{Name: f.Name, Kind: f.Kind, Transport: f.Transport()}
	if l.Kind == "" {
		l.Kind = "?"
	}
	if f.Folder == nil {
		l.Version, l.Summary = f.Bundled.Version, f.Bundled.Summary
		l.Path, l.SHA256, err = ownBinary()
		return l, err
	}
	l.Version, l.Summary, l.Path = f.Folder.Version, f.Folder.Summary, f.Folder.Path
	sums, err := f.Folder.Check()
	l.SHA256 = sums.SHA256
	return l, err
}

// ownBinary is this program and its checksum.
var ownBinary = func() func() (string, string, error) {
	type known struct {
		path, sum string
		err       error
	}
	once := sync.OnceValue(func() (k known) {
		if k.path, k.err = os.Executable(); k.err == nil {
			k.sum, k.err = process.Hash(k.path)
		}
		return k
	})
	return func() (string, string, error) { k := once(); return k.path, k.sum, k.err }
}()

func (a *app) pluginTable(list []listedPlugin) error {
	t := &table{}
	t.column("kind", false)
	t.column("name", false)
	t.column("version", false)
	t.column("transport", false)
	t.column("", false)
	for _, l := range list {
		text := l.Summary
		if l.Transport != "bundled" {
			text = strings.TrimSpace(text + " (" + l.Path + ")")
		}
		t.rows = append(t.rows, []string{string(l.Kind), l.Name, l.Version, l.Transport, text})
	}
	return t.write(a.out, a.width(), a.bold)
}

func (a *app) pluginsDescribeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "describe NAME|PATH",
		Short: "Describe a plugin and its options",
		Long: `Describe a plugin and its options. The command starts a plugin that does not come with
tunehost, to ask it.`,
		Example: `  tunehost plugins describe asha
  tunehost plugins describe ./plugins/mine`,
		Args: wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			infos, err := a.infos(ctx, args[0])
			for _, i := range infos {
				if err := a.describe(i); err != nil {
					return err
				}
			}
			return err
		},
	}
}

// infos returns what the plugins of a name or a path say about themselves.
func (a *app) infos(ctx context.Context, name string) (infos []sdk.Info, err error) {
	for _, i := range slices.Concat(plugins.Infos(), ownPlugins) {
		if i.Name == name {
			infos = append(infos, i)
		}
	}
	if len(infos) > 1 {
		return infos, nil // of several kinds
	}
	if slices.ContainsFunc(ownPlugins, func(i sdk.Info) bool { return i.Name == name }) {
		return infos, nil
	}
	p, err := findPlugin(name)
	if err != nil {
		return nil, err
	}
	if p.Bundled != nil {
		return infos, nil
	}
	a.waiting.on("the plugin " + name + " to start")
	return infosOf(ctx, a.starting(p), "")
}

// findPlugin returns the plugin that the user names.
func findPlugin(name string) (*find.Found, error) { return findKind(name, "") }

// findKind returns the plugin of a kind, if plugins of several kinds have the name. A plugin at a path
// may have several kinds.
func findKind(name string, kind sdk.Kind) (*find.Found, error) {
	f, err := found()
	if err != nil {
		return nil, err
	}
	if find.IsPath(name) {
		kind = ""
	}
	p, err := f.Find(kind, name)
	if err != nil && !fromFile(err) {
		err = asUsage(err)
	}
	return p, err
}

// rowsOf returns the options of a plugin.
func rowsOf(i sdk.Info) ([]option.Row, error) {
	if len(i.Options) == 0 {
		return nil, nil
	}
	if err := config.CheckSchema(i.Options); err != nil {
		return nil, fmt.Errorf("plugin %s: its options schema is invalid: %w", i.Name, err)
	}
	rows, err := option.Rows(i.Options)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: its options schema is not that of a map", i.Name)
	}
	return rows, nil
}

func (a *app) describe(i sdk.Info) error {
	a.say("%s", a.bold(fmt.Sprintf("%s %s %s", i.Kind, i.Name, i.Version)))
	a.say("%s", i.Summary)
	rows, err := rowsOf(i)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		a.say("It has no options.")
		return nil
	}
	t := &table{}
	t.column("option", false)
	t.column("value", false)
	t.column("default", false)
	t.column("", false)
	for _, r := range rows {
		t.rows = append(t.rows, []string{r.Name, r.Value, r.Default, r.Doc})
	}
	a.say("")
	defer a.warn(config.WrongDefaults(config.PluginRef{Name: i.Name, Options: []byte("{}")}, i.Options))
	return t.write(a.out, a.width(), a.bold)
}
