package opening

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Limit returns the deadline of a plugin's call; 0: none. The file's setting comes first; a WASM
// module has sandbox.call_timeout, a bundled plugin more time.
func (o *Opener) Limit(kind sdk.Kind, ref config.PluginRef, c deadlines.Call) time.Duration {
	set := o.Experiment.Deadlines[c]
	switch {
	case o.Alone, o.Direct && o.IsBundled(kind, ref):
		return 0
	case o.Timeout > 0 || set > 0:
		return cmp.Or(o.Timeout, set)
	case o.isModule(kind, ref):
		return o.moduleLimit(c)
	case o.IsBundled(kind, ref):
		return max(deadlines.Bundled, o.Experiment.Deadlines.Of(c))
	}
	return o.Experiment.Deadlines.Of(c)
}

func (o *Opener) moduleLimit(c deadlines.Call) time.Duration {
	if c == deadlines.Start {
		return sandbox.StartTimeout
	}
	return cmp.Or(o.Experiment.Sandbox.CallTimeout, o.Experiment.Deadlines.Of(c))
}

// watch tells the user of a call without an answer, and when it will be given up.
func (o *Opener) watch(kind sdk.Kind, ref config.PluginRef, c deadlines.Call, limit time.Duration) (end func()) {
	if limit == 0 {
		return func() {}
	}
	after := deadlines.Notice(limit)
	stop := o.Clock.AfterFunc(after, func() {
		o.Log.Once(fmt.Sprintf("overdue %s %s %s", kind, ref.Name, c), overdue(kind, ref, c, after, limit))
	})
	return func() { stop() }
}

// overdue says what happens to a late call: searchers and schedulers are asked again. An executor that
// cannot be opened ends the host.
func overdue(kind sdk.Kind, ref config.PluginRef, c deadlines.Call, after, limit time.Duration) string {
	then := "it is given up after " + deadlines.Text(limit)
	if kind != sdk.KindTrainable && kind != sdk.KindExecutor && c != deadlines.Start {
		then = fmt.Sprintf("it is restarted after %s, and given up the third time", deadlines.Text(limit))
	}
	return fmt.Sprintf("%s %q has not answered %s for %s; %s (deadlines.%s)", kind, ref.Name, callName(c),
		deadlines.Text(after), then, c)
}

// callName names a call as authors of plugins know it.
func callName(c deadlines.Call) string {
	switch c {
	case deadlines.Start:
		return "Describe since its start"
	case deadlines.Load:
		return "Open"
	}
	return string(c[0]-'a'+'A') + string(c[1:])
}

// Opened makes a call to open a plugin, within its deadline.
func Opened[T any](ctx context.Context, o *Opener, kind sdk.Kind, ref config.PluginRef, c deadlines.Call,
	open func(context.Context) (T, error)) (T, error) {
	limit := o.Limit(kind, ref, c)
	defer o.watch(kind, ref, c, limit)()
	ctx, cancel := deadlines.Within(ctx, limit)
	defer cancel()
	return open(ctx)
}
