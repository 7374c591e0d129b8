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

// shortList is the minimum of the user's environment that a program gets.
var shortList = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// baseEnv returns the common environment of all trials' programs, by name.
func (o *options) baseEnv() map[string]string {
	env := map[string]string{}
	for _, kv := range o.userEnv() {
		name, value, ok := strings.Cut(kv, "=")
		if ok && name != "" && o.passes(name) {
			env[name] = value
		}
	}
	if o.InheritEnv && env["PYTHONUNBUFFERED"] == "" {
		// Otherwise Python buffers printed results until it ends.
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
		o.Workers && slices.Contains(gangVariables, name), o.Environ == nil && strings.HasPrefix(name, "PLUGIN_"):
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

// trialEnv returns the environment of one attempt, without the variables that differ between
// workers.
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
	if mark, ok := os.LookupEnv(strings.TrimSuffix(markVariable, "=")); ok {
		env = append(env, markVariable+mark)
	}
	if len(t.Bundles) > 0 {
		env = append(env, "TUNEHOST_BUNDLES="+bundlesText(t.Bundles))
	}
	return append(env, own...)
}

// markVariable is that by which a host recognises the processes to kill.
const markVariable = "TUNEHOST_HOST="

// Variables that differ between the workers of a gang.
const (
	channelVariable = "TUNEHOST_CHANNEL="
	devicesVariable = "CUDA_VISIBLE_DEVICES="
)

// devices returns the granted GPUs, or, if none were requested, the value of env in the experiment
// file. On a node of an engine that is what the engine has set.
func (p *program) devices(granted []string) string {
	if len(granted) > 0 {
		return strings.Join(granted, ",")
	}
	if value, set := p.o.Env["CUDA_VISIBLE_DEVICES"]; set || p.o.Environ != nil {
		return value
	}
	return os.Getenv("CUDA_VISIBLE_DEVICES")
}

// bundlesText returns JSON that describes the granted bundles; the index of a bundle is the rank of
// its worker.
func bundlesText(bundles []sdk.Bundle) string {
	type bundle struct {
		Rank      int             `json:"rank"`
		Node      string          `json:"node"`
		Resources json.RawMessage `json:"resources"`
		Devices   []string        `json:"devices"`
		Address   string          `json:"address,omitempty"`
	}
	list := make([]bundle, len(bundles))
	for i, b := range bundles {
		list[i] = bundle{i, b.Node, b.Resources, append([]string{}, b.Devices...), b.Address}
		if len(b.Resources) == 0 {
			list[i].Resources = json.RawMessage("{}")
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "[]" // the host's JSON is invalid
	}
	return string(text)
}

// paths are the paths passed to the program.
type paths struct {
	params, checkpoints, channel string
	exports                      string // "": none are requested
}
