package command

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// shortList is what a program gets of the user's environment at least.
var shortList = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// baseEnv is what all trials' programs have in common, by name.
func (o *options) baseEnv() map[string]string {
	env := map[string]string{}
	for _, kv := range o.userEnv() {
		name, value, ok := strings.Cut(kv, "=")
		if ok && name != "" && o.passes(name) {
			env[name] = value
		}
	}
	if o.InheritEnv && env["PYTHONUNBUFFERED"] == "" {
		// Else Python keeps printed results to itself until it ends.
		env["PYTHONUNBUFFERED"] = "1"
	}
	maps.Copy(env, o.Env)
	delete(env, "PWD")
	delete(env, "CUDA_VISIBLE_DEVICES")
	return env
}

func (o *options) userEnv() []string {
	if o.Environ != nil {
		return *o.Environ
	}
	return os.Environ()
}

func (o *options) passes(name string) bool {
	switch {
	case strings.HasPrefix(name, "TUNEHOST_"), name == "CUDA_VISIBLE_DEVICES", name == "PWD", name == "OLDPWD",
		o.Workers && slices.Contains(gangVariables, name):
		return false
	}
	return o.InheritEnv || slices.Contains(shortList, name)
}

func flat(env map[string]string) []string {
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// trialEnv is the environment of one attempt, but for what differs among workers.
func (p *program) trialEnv(t *sdk.Trial, dir string, paths paths, own []string) []string {
	env := make([]string, 0, len(p.env)+len(own)+12)
	env = append(env, p.env...)
	env = append(env,
		"PWD="+dir,
		"TUNEHOST_TRIAL_ID="+t.ID,
		"TUNEHOST_TRIAL_DIR="+t.Dir,
		"TUNEHOST_EXPERIMENT="+t.Experiment,
		"TUNEHOST_PARAMS="+paths.params,
		"TUNEHOST_SEED="+strconv.FormatUint(t.Seed, 10),
		"TUNEHOST_CHECKPOINT_DIR="+paths.checkpoints)
	if t.Restore != "" {
		env = append(env, "TUNEHOST_CHECKPOINT="+t.Restore)
	}
	if paths.exports != "" {
		env = append(env, "TUNEHOST_EXPORT_DIR="+paths.exports, "TUNEHOST_EXPORT_FORMATS="+strings.Join(t.Export, ","))
	}
	// By this the host knows what it has to end.
	if mark, ok := os.LookupEnv("TUNEHOST_HOST"); ok {
		env = append(env, "TUNEHOST_HOST="+mark)
	}
	if len(t.Bundles) > 0 {
		env = append(env, "TUNEHOST_BUNDLES="+bundlesText(t.Bundles))
	}
	return append(env, own...)
}

// What is not the same for all workers of a gang.
const (
	channelVariable = "TUNEHOST_CHANNEL="
	devicesVariable = "CUDA_VISIBLE_DEVICES="
)

// devices are the GPUs granted, or, where none were asked for, what the experiment
// file says in env.
func (p *program) devices(granted []string) string {
	if len(granted) == 0 {
		return p.o.Env["CUDA_VISIBLE_DEVICES"]
	}
	return strings.Join(granted, ",")
}

// bundlesText is the JSON that describes what was granted: a place's index is the
// rank of its worker.
func bundlesText(bundles []sdk.Bundle) string {
	type bundle struct {
		Rank      int             `json:"rank"`
		Node      string          `json:"node"`
		Resources json.RawMessage `json:"resources"`
		Devices   []string        `json:"devices"`
	}
	list := make([]bundle, len(bundles))
	for i, b := range bundles {
		list[i] = bundle{i, b.Node, b.Resources, append([]string{}, b.Devices...)}
		if len(b.Resources) == 0 {
			list[i].Resources = json.RawMessage("{}")
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "[]" // the host's JSON is none
	}
	return string(text)
}

// paths are what the program is told of files.
type paths struct {
	params, checkpoints, channel string
	exports                      string // "": none are wanted
}
