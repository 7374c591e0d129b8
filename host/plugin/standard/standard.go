// Package standard has the plugins that come with tunehost as one table. The command uses
// the table, and so does any other program that runs experiments.
//
// If a program wants to run plugins in processes of their own, as the command does, it first
// passes its arguments to the table:
//
//	var plugins = standard.Plugins(mine)
//
//	func main() {
//		if handled, exit := plugins.Main(os.Args[1:]); handled {
//			os.Exit(exit)
//		}
//		…
//	}
//
// Without that they run in the program itself.
package standard

import (
	"slices"

	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/plugins/catalog"
	"github.com/tunehost/tunehost/plugins/executors/batch"
	"github.com/tunehost/tunehost/plugins/executors/fake"
	"github.com/tunehost/tunehost/plugins/executors/slurm"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/trainables/chaos"
	"github.com/tunehost/tunehost/plugins/trainables/command"
	"github.com/tunehost/tunehost/plugins/trainables/digits"
)

// Draws reports whether a searcher is one of tunehost's that begin with points drawn at random.
func Draws(searcher string) bool {
	return searcher != "grid" && slices.ContainsFunc(catalog.Searchers,
		func(p sdk.SearcherPlugin) bool { return p.Name == searcher })
}

// Plugins returns the plugins of tunehost, in the order in which they are listed, and then
// more, the program's own: values as for [bundled.New].
func Plugins(more ...any) *bundled.Registry {
	var list []any
	for _, p := range catalog.Searchers {
		list = append(list, p)
	}
	for _, p := range catalog.Schedulers {
		list = append(list, p)
	}
	list = append(list, command.Plugin(), digits.Plugin, chaos.Plugin, fake.Plugin, batch.Plugin, slurm.Plugin)
	return bundled.New(append(list, more...)...)
}
