package broken

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// startedBy is an executor that starts a shell script in place of the agent, which is $REAL.
func startedBy(script string) executor {
	return executor{agent: "#!/bin/sh\nREAL='%s'\nDIR='%s'\n" + script + "\n"}
}

// wrap writes the script that is started in place of the agent.
func (x *executor) wrap() error {
	if x.agent == "" || x.x.Agent == nil {
		return nil
	}
	path := filepath.Join(x.x.Dir, "wrapped")
	text := strings.Replace(strings.Replace(x.agent, "%s", x.x.Agent.Path, 1), "%s", x.x.Dir, 1)
	x.x.Agent = &sdk.Agent{Path: path}
	return os.WriteFile(path, []byte(text), 0o700)
}

func executorsOfAgents() []Plugin {
	ctx := context.Background()
	return []Plugin{
		executorThat("executor-starts-agents-for-nobody", startedBy(
			`unset TUNEHOST_AGENT; exec "$REAL" agent`)),
		executorThat("executor-counts-bundles-from-one", startedBy(
			`TUNEHOST_AGENT_BUNDLE=$((TUNEHOST_AGENT_BUNDLE + 1)) exec "$REAL" agent`)),
		executorThat("executor-passes-the-secret-as-argument", startedBy(`exec "$REAL" agent "$TUNEHOST_AGENT"`)),
		executorThat("executor-writes-the-secret", startedBy(
			`umask 022; echo "export TUNEHOST_AGENT=$TUNEHOST_AGENT" >"$DIR/job.sh"; exec "$REAL" agent`)),
		executorThat("executor-does-not-end-agents", startedBy(`trap '' TERM; exec "$REAL" agent`)),
		executorThat("executor-does-not-see-agents-end", startedBy(
			`"$REAL" agent; while [ -d "$DIR" ]; do sleep 0.05; done`)),
		executorThat("executor-starts-agents-again", executor{adopt: func(x *executor, l []string) error {
			again, others := []sdk.LeaseRequest{}, []string{}
			text, _ := os.ReadFile(filepath.Join(x.x.Dir, "leases-"+x.x.Prefix+".json")) // none at first
			for _, lease := range l {
				if strings.Contains(string(text), `"`+lease+`"`) {
					again = append(again, sdk.LeaseRequest{Lease: lease,
						Bundles: []sdk.LeaseBundle{{{Name: "cpu", Value: 1}}}})
				} else {
					others = append(others, lease)
				}
			}
			return errors.Join(x.CapacityExecutor.Adopt(ctx, others), x.CapacityExecutor.Allocate(ctx, again))
		}}),
	}
}
