package command

import (
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// thisProgram is the program of this process. It also represents workers on other nodes.
const thisProgram = "/proc/self/exe"

// onItsNode returns the program to start for a worker. If the worker's bundle has an agent of its own, that is a
// process that lets the agent start the worker's program, and represents it here.
func (a *attempt) onItsNode(file string, env []string, rank int) (path string, args, environ []string, err error) {
	socket := os.Getenv(sdk.RanksVariable)
	if socket == "" || a.trial.Bundles[rank].Address == "" {
		return file, a.args, env, nil
	}
	x := sdk.Rank{Socket: socket, Bundle: rank, Path: file, Args: a.args[1:], Dir: a.dir}
	here := os.Environ()
	for _, variable := range env {
		granted := a.hasDevices() && strings.HasPrefix(variable, devicesVariable) // the other node has others
		if granted || !slices.Contains(here, variable) {
			name, _, _ := strings.Cut(variable, "=")
			if name == "PATH" && a.p.ownPath {
				continue
			}
			x.Own = append(x.Own, name)
		}
	}
	text, err := json.Marshal(x)
	if err != nil {
		return "", nil, nil, err
	}
	return thisProgram, []string{thisProgram, "agent"}, append(env, sdk.RankVariable+"="+string(text)), nil
}
